package exit

import (
	"slices"

	"agentctl/dialect"
	"agentctl/protocol"
)

// A Peer describes the server when an error is shown. It decides which commands a hint may name.
// The zero value is a native server that was not reached.
type Peer struct {
	Dialect   string          // empty: native
	Commands  []protocol.Verb // that the server accepts from this client, by hello; nil: not known
	Role      protocol.Role   // of this client, by hello; empty: any, or not known
	Ephemeral bool            // sessions end with their connection
}

// accepts reports whether a verb of one connection can send a command. The empty command is always
// accepted.
func (p *Peer) accepts(v protocol.Verb) bool {
	if v == "" {
		return true
	}
	if d, ok := dialect.Find(p.Dialect); ok && d.Unsupported(v, true) != nil {
		return false
	}
	return !p.Ephemeral && (p.Commands == nil || slices.Contains(p.Commands, v))
}

// A condition limits a hint to the servers where it helps.
type condition struct {
	verb      protocol.Verb // that the server must accept; empty: any
	native    bool          // the server must speak the native protocol
	login     bool          // the server must log users in
	otherwise string        // hint at any other server; may be empty
}

// Needs limits the hint to servers that accept a command, and returns e.
func (e *Error) Needs(v protocol.Verb) *Error {
	e.condition = condition{verb: v}
	return e
}

// At returns e with the hint for a server: e itself, or a copy.
func (e *Error) At(p Peer) *Error {
	if e.Code == protocol.CodeForbidden && p.Role == protocol.RoleAgent {
		other := *e
		other.Hint, other.condition = agentHint, condition{}
		return &other
	}
	c, native := &e.condition, p.Dialect == ""
	d, _ := dialect.Find(p.Dialect)
	if p.accepts(c.verb) && (!c.native || native) && (!c.login || native || d.HasLogin) {
		return e
	}
	other := *e
	other.Hint, other.condition = e.condition.otherwise, condition{}
	return &other
}
