package agent

import (
	"context"

	"agentctl/protocol"
)

// A SubAgent is an agent that works for an agent. It has a session below its parent's. It is the
// Agent of that session, and runs no turns: it takes no messages, and the agent that it works for
// begins its turns.
type SubAgent struct {
	ID    string   `json:"id"`              // the agent's own id of it, unique among all below a session
	Reads []string `json:"reads,omitempty"` // names of its tools that only read
}

var _ Agent = (*SubAgent)(nil)

// Capabilities implements Agent.
func (s *SubAgent) Capabilities() Capabilities { return Capabilities{ReadTools: s.Reads} }

// Run implements Agent.
func (s *SubAgent) Run(context.Context, Turn, Output) (End, error) {
	return End{}, protocol.Errorf(protocol.CodeUnsupported, "a sub-agent takes no messages: its parent gives it work")
}

// Close implements Agent.
func (s *SubAgent) Close() error { return nil }

// A SubAgentHost is the session of a sub-agent, for the agent that it works for. Its requests are
// decided in the session of that agent, under its policy and its rules.
type SubAgentHost interface {
	// Session returns the id of the session.
	Session() string

	// Begin is WorkHost.Begin.
	Begin(ctx context.Context, w Work) error

	// Emit is Host.Emit.
	Emit(e Event) error

	// SubAgent is WorkHost.SubAgent, for a sub-agent of this one.
	SubAgent(s SubAgent, title string) (SubAgentHost, error)
}
