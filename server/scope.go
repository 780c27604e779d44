package server

import (
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/server/login"
)

// errScope refuses requests beyond a credential of one session.
const errScope = "the credential is for one session"

// scope returns the only session that the caller may use; empty: all.
func (c *caller) scope() string {
	if c.identity == nil {
		return ""
	}
	return c.identity.Session
}

// errMetrics refuses requests beyond a credential for metrics.
const errMetrics = "the credential is for metrics alone"

// refusal returns the reason why the caller may not request a path over HTTP, on a listener of a
// dialect or of all protocols; empty: it may. WebSockets are limited command by command.
func (c *caller) refusal(dialect, path string) string {
	session := "/api/sessions/" + c.scope()
	switch {
	case c.role == protocol.RoleMetrics && (dialect != "" || path != metricsPath && path != login.Path && !open(path)):
		return errMetrics
	case c.scope() == "" || path != "/api" && !strings.HasPrefix(path, "/api/"):
	case path != session && !strings.HasPrefix(path, session+"/"):
		return errScope
	}
	return ""
}

// authorize returns an error for a command that the caller may not send. resolve returns the id of
// a session. For a caller of one session it sets the session of the command to its id, so that a
// name cannot come to mean another session before the command runs.
func (c *caller) authorize(cmd *protocol.Command, resolve func(name string) (string, error)) error {
	if !c.role.May(cmd.Command) {
		return c.role.Refusal(cmd.Command)
	}
	if err := c.checkServers(cmd); err != nil {
		return err
	}
	return c.checkScope(cmd, resolve)
}

// checkServers returns an error for a command that names MCP servers, unless the caller may.
func (c *caller) checkServers(cmd *protocol.Command) error {
	var d protocol.ImportData // of a create, too
	data := any(&d)
	switch {
	case c.role.MayNameMCPServers() || cmd.Command != protocol.DoCreate && cmd.Command != protocol.DoImport:
		return nil
	case cmd.Command == protocol.DoCreate:
		data = &d.CreateData
	}
	if cmd.DecodeData(data) != nil || len(d.MCPServers) == 0 {
		return nil // invalid data is refused later
	}
	return protocol.Errorf(protocol.CodeForbidden, "the role %s may not name MCP servers: an admin does", c.role)
}

// withoutSession are the commands without a session that a credential of one session may send. The
// list then has only that session.
var withoutSession = []protocol.Verb{protocol.DoHello, protocol.DoPing, protocol.DoList}

// inScope reports whether a connection of a scope may send a command at all.
func inScope(scope string, t *protocol.CommandType) bool {
	return scope == "" || t.Session || t.Verb == protocol.DoSearch || slices.Contains(withoutSession, t.Verb)
}

// checkScope returns an error for a command outside of the caller's scope.
func (c *caller) checkScope(cmd *protocol.Command, resolve func(name string) (string, error)) error {
	if c.scope() == "" || slices.Contains(withoutSession, cmd.Command) {
		return nil
	}
	t := protocol.CommandOf(cmd.Command)
	if t == nil {
		return nil // answered unknown_command
	}
	id, err := resolve(cmd.Session)
	if !inScope(c.scope(), t) || err != nil || id != c.scope() {
		return protocol.Errorf(protocol.CodeForbidden, errScope)
	}
	cmd.Session = id
	return nil
}

// listScope returns the summary of the caller's only session.
func (s *Server) listScope(from *caller, d *protocol.ListData) (r protocol.ListResult) {
	r.Sessions = slices.DeleteFunc(s.hub.Sessions().List(d.Closed), func(sum protocol.Summary) bool {
		return sum.Session != from.scope()
	})
	return r
}
