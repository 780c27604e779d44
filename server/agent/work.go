package agent

import "context"

// A WorkHost is a Host whose session shows work that no message asked for.
type WorkHost interface {
	Host

	// Begin begins a turn of work, and returns when its start is visible and Work.Run is called. During
	// another turn it waits for its end. When ctx ends first, or no turn may start, it returns an error
	// and Run is not called.
	Begin(ctx context.Context, w Work) error

	// SubAgent returns the session of a sub-agent. The first call makes it, and returns when it is
	// visible. A session that was closed has the code session_closed; if there are too many, the code
	// is session_limit.
	SubAgent(s SubAgent, title string) (SubAgentHost, error)
}

// Work is a turn that an agent begins itself.
type Work struct {
	Text string // the task, if the agent was given one: the message of the turn

	// Run runs the turn, which has no message, as Agent.Run does.
	Run func(ctx context.Context, turn Turn, out Output) (End, error)

	// Interruptible reports whether the agent can stop the work now; nil: always. It does not block.
	Interruptible func() bool
}
