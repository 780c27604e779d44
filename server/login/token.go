package login

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"agentctl/protocol"
)

const issuer = "agentctl"

// MaxTokenTTL bounds the lifetime of a token.
const MaxTokenTTL = 366 * 24 * time.Hour

// TokenRoles lists the roles of tokens: the roles of users, and the role for metrics only.
var TokenRoles = append([]protocol.Role{protocol.RoleMetrics}, protocol.Roles...)

// maxToken bounds the bytes of a token that is parsed.
const maxToken = 4 << 10

type claims struct {
	jwt.RegisteredClaims
	Role     protocol.Role `json:"role"`
	Made     bool          `json:"made,omitempty"`     // by NewToken: the role of the token counts, not the user's
	Session  string        `json:"session,omitempty"`  // the only session it is for
	Password string        `json:"password,omitempty"` // version of the user's password
}

// An Identity is the owner of a valid token.
type Identity struct {
	By      protocol.Actor
	Role    protocol.Role
	Session string // the only session that the token is for; empty: all
	Expires time.Time

	token    string // id of the token
	key      string // id of its key
	made     bool
	password string
}

// A TokenRequest asks for a token. Its subject need not be a user.
type TokenRequest struct {
	Subject string
	Role    protocol.Role
	Session string        // id of the only session that it is for; empty: all
	TTL     time.Duration // 1 second to MaxTokenTTL
}

// A Token is a signed token and its id, by which it can be revoked.
type Token struct {
	ID     string
	Signed string
}

// NewToken returns a token with a role.
func (a *Authenticator) NewToken(r TokenRequest) (Token, error) {
	switch {
	case r.Subject == "" || len(r.Subject) > maxName || !utf8.ValidString(r.Subject):
		return Token{}, fmt.Errorf("a subject has 1 to %d bytes of text", maxName)
	case !slices.Contains(TokenRoles, r.Role):
		return Token{}, fmt.Errorf("invalid role %q: want one of %v", r.Role, TokenRoles)
	case r.TTL < time.Second || r.TTL > MaxTokenTTL:
		return Token{}, fmt.Errorf("token lifetime: want 1 second to %s, not %s", MaxTokenTTL, r.TTL)
	}
	return a.sign(claims{Role: r.Role, Made: true, Session: r.Session}, r.Subject, r.TTL)
}

func (a *Authenticator) sign(c claims, subject string, ttl time.Duration) (Token, error) {
	now := a.now()
	keys := a.policy().keys
	c.RegisteredClaims = jwt.RegisteredClaims{
		ID:        "t_" + rand.Text()[:16],
		Issuer:    issuer,
		Subject:   subject,
		Audience:  jwt.ClaimStrings{keys.Audience},
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(now.Add(ttl)),
	}
	key := keys.signer()
	if key == nil {
		return Token{}, errors.New("sign token: no key signs: agentctl token key rotate")
	}
	signed, err := key.sign(c)
	if err != nil {
		return Token{}, fmt.Errorf("sign token: %w", err)
	}
	return Token{c.ID, signed}, nil
}

// Verify returns the owner of a token; false if the token is foreign, forged, expired or revoked,
// or its user was removed or got another password. The role of a user is the current one.
func (a *Authenticator) Verify(token string) (Identity, bool) {
	if len(token) > maxToken {
		return Identity{}, false
	}
	p := a.policy()
	var c claims
	parsed, err := jwt.ParseWithClaims(
		token,
		&c,
		func(t *jwt.Token) (any, error) {
			kid, _ := t.Header["kid"].(string)
			return p.keys.find(kid).verifier(t.Method.Alg())
		},
		jwt.WithValidMethods([]string{HS256, EdDSA}),
		jwt.WithIssuer(issuer),
		jwt.WithAudience(p.keys.Audience),
		jwt.WithExpirationRequired(),
		jwt.WithTimeFunc(func() time.Time { return a.now() }),
	)
	if err != nil || c.ID == "" || c.ExpiresAt.After(a.now().Add(MaxTokenTTL)) {
		return Identity{}, false
	}
	id := Identity{
		By: protocol.Actor{Name: c.Subject, Subject: c.Subject}, Role: c.Role, Session: c.Session,
		Expires: c.ExpiresAt.Time, token: c.ID, key: parsed.Header["kid"].(string), made: c.Made, password: c.Password,
	}
	if !c.Made {
		id.Role = p.users[c.Subject].role
	}
	if c.Subject == "" || !slices.Contains(TokenRoles, id.Role) || p.check(&id) != nil {
		return Identity{}, false
	}
	return id, true
}
