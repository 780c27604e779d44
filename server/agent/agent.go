package agent

import (
	"context"

	"agentctl/protocol"
)

// An Agent runs the turns of one session: one Run at a time; its other methods may be called from
// any goroutine. An agent may also be a Starter, Explainer, Compactor, Measurer, TaskController,
// Configurer, Exporter, Forker or Undoer. Commands for the others are answered unsupported.
type Agent interface {
	// Capabilities is constant.
	Capabilities() Capabilities

	// Run runs one turn and returns how it ended. Canceling ctx interrupts it: Run stops the work,
	// may still emit its results, and returns soon; an agent that does not is closed after
	// Config.InterruptGrace. The session closes parts, tools and approvals that Run leaves open. An
	// error ends the turn with reason error and the code of the error, if it is a protocol error.
	Run(ctx context.Context, turn Turn, out Output) (End, error)

	// Close ends the agent and all its processes, and returns when they are gone. Run returns
	// before it.
	Close() error
}

// Capabilities are optional behaviours of an agent within turns.
type Capabilities struct {
	Resumes      bool // continues a turn after a restart of the server
	TakesReason  bool // receives the reason of a decision; else the session queues it as the next message
	TakesPatch   bool // applies an edited patch; else an answer with one is refused
	TakesCommand bool // runs an edited command; else an answer with one is refused
	RunsPlans    bool // accepts Turn.Plan
	HasPolicy    bool // has the setting policy and asks by it; else the session decides by its own

	// ContinuesPlans: accepts a Turn.Plan with completed tasks and keeps the results of those. A
	// task of a plan that is over can then be restarted.
	ContinuesPlans bool

	ReadTools []string // names of its tools that only read, which a policy may allow
}

// A Turn is the input of Agent.Run.
type Turn struct {
	ID      string
	Message protocol.Message
	Plan    *protocol.PlanRunData // run these tasks, do not plan; nil: none
	Resumed bool                  // the turn began before a restart: continue from Spec.State
	Shown   []ShownText           // of a resumed turn: its texts in the log, oldest first
}

// A ShownText is a text or reasoning that a turn has shown.
type ShownText struct {
	Part string
	Kind protocol.Kind
	Text string
	Open bool // it has not ended
}

// An End is the result of a turn. The session changes the reason to interrupted or denied when a
// user stopped the turn.
type End struct {
	Reason  protocol.Reason // empty: completed
	Code    protocol.Code
	Message string
	Usage   *protocol.Usage
}
