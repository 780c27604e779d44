package agent

import "context"

// A WorkHost is a Host whose session shows work that no message asked for.
type WorkHost interface {
	Host

	// Begin begins a turn of work, and returns when its start is visible and Work.Run is called. While
	// no turn may start, as during another one, the error has the code conflict and Run is not called.
	Begin(w Work) error
}

// Work is a turn that an agent begins itself.
type Work struct {
	Text string // the task, if the agent was given one: the message of the turn

	// Run runs the turn, which has no message, as Agent.Run does.
	Run func(ctx context.Context, turn Turn, out Output) (End, error)

	// Interruptible reports whether the agent can stop the work now; nil: always. It does not block.
	Interruptible func() bool
}
