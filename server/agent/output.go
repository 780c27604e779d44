package agent

import (
	"context"

	"agentctl/protocol"
)

// An Event is output of an agent. Data has the type listed in protocol.EventTypes. The session
// sanitizes it: it makes texts valid UTF-8, splits long ones, moves large payloads to blobs, and
// starts parts and tools that the agent has not started.
type Event struct {
	Type   protocol.Type
	Task   string
	Parent string
	Data   any
	Save   []byte // state to save in the same commit, as by Save; nil: none
}

// Output receives the output of a turn. Its methods may be called from any goroutine until Run
// returns.
type Output interface {
	// Emit appends an event to the session's log. It blocks while the log is behind
	// (back-pressure), and fails when the turn is over.
	Emit(e Event) error

	// Ask requests a decision and waits for it. The session fills in an empty Request and missing
	// Options; options of the agent keep their ids. A rule may answer immediately. A request id
	// used before in this turn, possibly before a restart, waits for the pending request or returns
	// its verdict. When the turn is interrupted, the outcome is cancelled. When ctx ends, Ask
	// returns its error and the request is cancelled, unless another call waits for it. Any other
	// error means that the turn is over.
	Ask(ctx context.Context, a protocol.Approval) (Verdict, error)

	// Save stores the agent's own state, at most 1 MiB, in one commit with the events emitted so
	// far. After a restart it is in Spec.State.
	Save(state []byte) error
}

// A Verdict is the resolution of a request, for the agent.
type Verdict struct {
	Outcome  protocol.Outcome
	Decision protocol.Decision
	Option   string // id of the chosen option, if the agent offered it
	Reason   string
	Input    *protocol.ApprovalInput
	By       *protocol.Actor
}
