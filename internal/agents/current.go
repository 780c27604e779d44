package agents

import (
	"os"
	"path/filepath"
	"sync/atomic"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/policy"
	"agentctl/server/session"
	"agentctl/server/session/confinement"
)

// A Current is a registry that can be replaced while agents are opened. Its methods may be called
// from any goroutine.
type Current struct{ registry atomic.Pointer[Registry] }

var (
	_ session.Agents        = (*Current)(nil)
	_ session.Conversations = (*Current)(nil)
	_ session.Keys          = (*Current)(nil)
	_ session.Policies      = (*Current)(nil)
	_ confinement.Agents    = (*Current)(nil)
)

// NewCurrent returns a Current with a registry.
func NewCurrent(r *Registry) *Current {
	c := new(Current)
	c.Replace(r)
	return c
}

// Replace replaces the registry for the agents that are opened from now on.
func (c *Current) Replace(r *Registry) { c.registry.Store(r) }

// Open opens an agent of the current registry.
func (c *Current) Open(spec agent.Spec, host agent.Host) (agent.Agent, error) {
	return c.registry.Load().Open(spec, host)
}

// Names lists the agents of the current registry.
func (c *Current) Names() []string { return c.registry.Load().Names() }

// Policy implements session.Policies with the current registry.
func (c *Current) Policy(agent string) policy.Policy { return c.registry.Load().Policy(agent) }

// Keys implements session.Keys with the current registry.
func (c *Current) Keys(agent string) []string { return c.registry.Load().Keys(agent) }

// DefaultSandbox implements confinement.Agents with the current registry.
func (c *Current) DefaultSandbox(agent string) protocol.Sandbox {
	return c.registry.Load().DefaultSandbox(agent)
}

// HasSandboxes implements confinement.Agents with the current registry.
func (c *Current) HasSandboxes() bool { return c.registry.Load().HasSandboxes() }

// CheckSandbox implements confinement.Agents with the current registry.
func (c *Current) CheckSandbox(s protocol.Sandbox) error { return c.registry.Load().CheckSandbox(s) }

// SandboxRefuses implements confinement.Agents with the current registry.
func (c *Current) SandboxRefuses(spec *agent.Spec, e *policy.Effect) error {
	return c.registry.Load().SandboxRefuses(spec, e)
}

// RunsElsewhere implements confinement.Elsewhere.
func (c *Current) RunsElsewhere(agent string) bool { return c.registry.Load().RunsElsewhere(agent) }

// HasConversations implements session.Conversations with the current registry.
func (c *Current) HasConversations(agent string) bool {
	return c.registry.Load().HasConversations(agent)
}

// Conversation implements session.Conversations with the current registry.
func (c *Current) Conversation(spec *agent.Spec) string {
	return c.registry.Load().Conversation(spec)
}

// RemoveFiles implements session.FileKeeper: it removes the records of changed files.
func (r *Registry) RemoveFiles(exists func(session string) bool) {
	if r.Changes == "" {
		return
	}
	entries, _ := os.ReadDir(r.Changes) // none before the first change
	for _, e := range entries {
		if !exists(e.Name()) {
			_ = os.RemoveAll(filepath.Join(r.Changes, e.Name())) // again at the next start
		}
	}
}

// RemoveFiles implements session.FileKeeper with the current registry.
func (c *Current) RemoveFiles(exists func(session string) bool) {
	c.registry.Load().RemoveFiles(exists)
}
