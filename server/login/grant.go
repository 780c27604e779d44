package login

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
)

// A grant is what is kept of an identity whose choice acts later, when it is not connected.
type grant struct {
	Subject string        `json:"subject"`
	Session string        `json:"session,omitempty"`
	Role    protocol.Role `json:"role,omitempty"` // of a made token
	Token   string        `json:"token,omitempty"`
	Key     string        `json:"key,omitempty"`
	Expires *time.Time    `json:"expires,omitempty"`
}

// Grant returns what Permits needs to know of the identity later. It has no secret. Of a user it is
// the name: the token of the moment may expire.
func (i *Identity) Grant() json.RawMessage {
	g := grant{Subject: i.By.Subject}
	if i.made {
		g.Session, g.Role, g.Token, g.Key, g.Expires = i.Session, i.Role, i.token, i.key, &i.Expires
	}
	return protocol.MustEncode(g)
}

// Permits reports whether the owner of a grant may still send a command: the user exists and has a
// role for it, or the token is valid.
func (a *Authenticator) Permits(kept json.RawMessage, verb protocol.Verb) bool {
	var g grant
	if json.Unmarshal(kept, &g) != nil || g.Subject == "" {
		return false
	}
	p := a.policy()
	role := g.Role
	if g.Expires == nil {
		role = p.users[g.Subject].role
	} else if p.check(&Identity{token: g.Token, key: g.Key, made: true}) != nil || !a.now().Before(*g.Expires) {
		return false
	}
	return slices.Contains(TokenRoles, role) && role.May(verb)
}
