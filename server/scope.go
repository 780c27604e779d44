package server

import (
	"slices"
	"strings"

	"agentctl/protocol"
)

// errScope refuses what a credential of one session may not do.
const errScope = "the credential is for one session"

// scope returns the only session that the caller may use; empty: all.
func (c *caller) scope() string {
	if c.identity == nil {
		return ""
	}
	return c.identity.Session
}

// mayRequest reports whether the caller may request a path over HTTP. WebSockets are limited
// command by command.
func (c *caller) mayRequest(path string) bool {
	scope := c.scope()
	return scope == "" || path != "/api" && !strings.HasPrefix(path, "/api/") ||
		strings.HasPrefix(path, "/api/sessions/"+scope+"/")
}

// withoutSession are the commands without a session that a credential of one session may send. The
// list has that session alone.
var withoutSession = []protocol.Verb{protocol.DoHello, protocol.DoPing, protocol.DoList}

// inScope reports whether a connection of a scope may send a command at all.
func inScope(scope string, t *protocol.CommandType) bool {
	return scope == "" || t.Session || t.Verb == protocol.DoSearch || slices.Contains(withoutSession, t.Verb)
}

// checkScope returns an error for a command outside of the connection's scope. It sets the session
// to its id, so that a name cannot come to mean another session before the command runs.
func (c *conn) checkScope(cmd *protocol.Command) error {
	if c.caller.scope() == "" || slices.Contains(withoutSession, cmd.Command) {
		return nil
	}
	t := protocol.CommandOf(cmd.Command)
	if t == nil {
		return nil // answered unknown_command
	}
	id, err := c.resolve(cmd.Session)
	if !inScope(c.caller.scope(), t) || err != nil || id != c.caller.scope() {
		return protocol.Errorf(protocol.CodeForbidden, errScope)
	}
	cmd.Session = id
	return nil
}

// listScope returns the summary of the connection's only session.
func (c *conn) listScope(d *protocol.ListData) (r protocol.ListResult, _ error) {
	r.Sessions = slices.DeleteFunc(c.server.hub.List(d.Closed), func(s protocol.Summary) bool {
		return s.Session != c.caller.scope()
	})
	return r, nil
}
