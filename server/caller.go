package server

import (
	"encoding/json"
	"net/http"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/process"
	"agentctl/server/login"
)

// A caller is the sender of a request, authenticated by the listener. Without its own credential it
// has no name yet.
type caller struct {
	by       protocol.Actor
	role     protocol.Role
	identity *login.Identity // nil: no token
	agent    string          // the session whose agent it is; empty: a user
	origins  []string        // of the page; empty: not a page
	allowed  *Origins        // of the listener
}

// Reasons for closing a connection with protocol.ClosePolicy.
const (
	reasonNoToken      = "auth failed: a valid token is required"
	reasonTokenExpired = "auth failed: the token has expired"
	reasonTokenRevoked = "auth failed: the token was revoked"
	reasonOrigin       = "this web origin is not allowed any more"
)

// grant returns what is kept of the caller's credential; nil: it needed none.
func (c *caller) grant() json.RawMessage {
	if c.identity == nil {
		return nil
	}
	return c.identity.Grant()
}

// permits returns the function that reports whether the user of a choice may still send messages. A
// choice without a credential came from a listener that trusts its clients.
func permits(auth *login.Authenticator) func(*agent.AfterLimit) bool {
	return func(c *agent.AfterLimit) bool {
		return c.Credential == nil || auth != nil && auth.Permits(c.Credential, protocol.DoSend)
	}
}

// agentOf returns the session whose agent sent a request: the process that connected, or one of its
// ancestors, is in a process group that an agent runs in, or has its session in the environment.
// The nearest process counts. Empty: a user, or a process that is not known. An error means that
// the process has ended, so that its ancestors cannot be known.
func (s *Server) agentOf(l *Listener, r *http.Request) (string, error) {
	if l.agent != "" {
		return l.agent, nil
	}
	if l.Ancestry == nil {
		return "", nil
	}
	c := socketOf(r)
	p := &c.peer
	p.lookup.Do(func() {
		var ancestors []process.Ancestor
		if ancestors, p.err = l.Ancestry(c.Conn); p.err == nil {
			p.agent = s.agentAmong(ancestors)
		}
	})
	return p.agent, p.err
}

func (s *Server) agentAmong(ancestors []process.Ancestor) string {
	for _, a := range ancestors {
		if id := s.hub.Processes().SessionOf(a.PID, a.Start, a.Group); id != "" {
			return id
		}
		if s.hub.Sessions().Exists(a.Session) { // not a session of another server, which may run below this one
			return a.Session
		}
	}
	return ""
}

// A callerKey is the key of the caller in the context of a request that a listener accepted.
type callerKey struct{}

// callerOf returns the caller of a request that the listener accepted. A caller without a
// credential gets the name given.
func callerOf(r *http.Request, name string) caller {
	c, _ := r.Context().Value(callerKey{}).(caller)
	if c.by.Name == "" {
		c.by.Name = name
	}
	return c
}
