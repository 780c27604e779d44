package agent

import (
	"context"
	"time"

	"agentctl/protocol"
)

// A Starter has a process, which starts before the first turn so that settings, commands and the
// need of a login are known, and which may end between turns.
type Starter interface {
	// Start starts the process unless it runs. It returns when a turn can follow, within a bound of
	// the agent. After an error Run tries again.
	Start(ctx context.Context) error

	// Process returns the present state of the process. It does not block.
	Process() Process
}

// A Process is the state of the process of an agent.
type Process struct {
	Running  bool      // ready for a turn
	Since    time.Time // of the start, if Running
	Restores bool      // a later process continues the conversation: this one may end when idle
}

// An Explainer explains a request while it stays pending.
type Explainer interface {
	Explain(ctx context.Context, a protocol.Approval) (string, error)
}

// A Compactor compacts its context.
type Compactor interface {
	Compact(ctx context.Context) (protocol.ContextCompactedData, error)
}

// A Measurer reports its context usage, and its parts if known.
type Measurer interface {
	Context(ctx context.Context) (protocol.ContextInfo, []protocol.ContextPart, error)
}

// A TaskController cancels and restarts tasks of its plan during a turn. For an unknown task the
// error has the code not_found.
type TaskController interface {
	CancelTask(ctx context.Context, task string) error
	RestartTask(ctx context.Context, task string) error
}

// A Configurer has settings. It emits agent.options with the new values.
type Configurer interface {
	Configure(ctx context.Context, setting, value string) error
}

// A Forker makes a state for a new session that has the first turns of its conversation.
type Forker interface {
	// Fork returns a state that ends with a turn, and the blobs that it needs; empty: before the first.
	Fork(ctx context.Context, turn string) (state []byte, blobs []Blob, err error)
}

// An Undoer forgets its last turn. It is called while no turn runs.
type Undoer interface {
	// Undo forgets the last turn and, with files set, restores the files that its tools changed. If
	// it can forget no turn, the error has the code conflict.
	Undo(ctx context.Context, files bool) (Undone, error)
}

// An Undone is a turn that was forgotten. Restored and Kept are the files that its tools changed:
// files restored to their state before it, and files that were changed since.
type Undone struct {
	Turn     string
	Restored []string
	Kept     []string
}

// An Exporter exports its own state, to be passed to another agent in Spec.State.
type Exporter interface {
	Export(ctx context.Context) ([]byte, error)
}

// A Steerer takes messages of users into a turn that runs: its Run uses Turn.Steering.
type Steerer interface {
	// Steers reports whether the agent takes messages now. While that is not known, such as during its
	// start, it returns true. It does not block.
	Steers() bool
}

// Steering hands messages of users to a turn. Its methods may be called from any goroutine until Run
// returns. An agent that never calls Take leaves the messages in the queue.
type Steering interface {
	// Waiting returns a channel that has a value when messages may wait.
	Waiting() <-chan struct{}

	// Take returns the messages that wait, oldest first; none if the turn is being stopped. They are
	// recorded as sent before it returns, so the agent must send and Resolve each. In a resumed turn it
	// also returns those that were sent before the restart and not resolved: an agent that resumes turns
	// saves its state when it resolves, so it does not have them.
	Take() ([]protocol.Message, error)

	// Resolve records the outcome of a message. save is the state to save in the same commit, as by
	// Output.Save; nil: none. A message without an outcome at the end of the turn is unknown.
	Resolve(d protocol.MessageResolvedData, save []byte) error
}
