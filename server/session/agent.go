package session

import (
	"context"

	"agentctl/protocol"
)

// Agents opens the agents of sessions. cmd/agentctl wires one that knows the configured agents.
type Agents interface {
	// Open makes an agent for a session. It does no slow work: a process starts on the first Run. An agent it does not know is a
	// protocol error with the code no_agent.
	Open(spec Spec, host Host) (Agent, error)

	// Names lists what clients may name, for hello and completion.
	Names() []string
}

// A Spec says how to run a session's agent. It is stored privately and never sent to clients.
type Spec struct {
	Session string            `json:"-"`
	Agent   string            `json:"agent"` // configured name, preset, "acp:COMMAND ARG…", "script:FILE"
	CWD     string            `json:"cwd,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	State   []byte            `json:"state,omitempty"` // what the agent saved last
}

// An Agent runs the turns of one session: one Run at a time, the other methods from any goroutine. An agent may also be an
// Explainer, Compactor, Measurer, TaskController, Configurer or Exporter; what it is not is answered unsupported.
type Agent interface {
	// Capabilities tells what the agent can do. It is constant.
	Capabilities() Capabilities

	// Run runs one turn and returns how it ended. Cancelling ctx interrupts it: Run then stops the work, may still emit what
	// was done, and returns soon; an agent that does not is closed after a deadline. Parts, tools and approvals that it leaves
	// open are closed by the session. A returned error ends the turn with reason error and, if it is one, the code of the
	// protocol error.
	Run(ctx context.Context, turn Turn, out Output) (End, error)

	// Close ends the agent and every process of it, and returns when they are gone. Run returns before it.
	Close() error
}

// Capabilities are what an agent can do beside running turns.
type Capabilities struct {
	Resumes     bool // it goes on with a turn that a restart of the server cut
	TakesReason bool // the words of a decision reach it; else the session sends them as the next message
	TakesPatch  bool // an edited patch reaches it; else such an answer is refused
	RunsPlans   bool // it takes Turn.Plan
}

// A Turn is what an agent is asked to do.
type Turn struct {
	ID      string
	Message protocol.Message
	Plan    *protocol.PlanRunData // solve these tasks, do not plan
	Resumed bool                  // the turn had started before a restart: go on after what was saved last
}

// An End is how a turn ended. The session makes it interrupted or denied when a person ended it.
type End struct {
	Reason  protocol.Reason
	Code    protocol.Code
	Message string
	Usage   *protocol.Usage
}

// An Event is what an agent has to say. Data is the type that protocol.EventTypes lists. The session makes it fit for the
// log: text is made valid UTF-8 and split, too large payloads become blobs, a delta of a part or an output of a tool that was
// not started starts it.
type Event struct {
	Type   protocol.Type
	Task   string
	Parent string
	Data   any
	Save   []byte // what Save would keep, kept in one with the event; nil: nothing
}

// Output is where a turn's agent says what it does. Any goroutine may use it until Run returns.
type Output interface {
	// Emit appends an event to the session's log. It blocks while the log is behind, which is the back-pressure on the agent, and
	// fails when the turn is over.
	Emit(e Event) error

	// Ask asks for a decision and waits for it. Request and Options may be empty: the session fills them; options of the
	// agent keep their ids. A rule may answer at once. A request id that was used in this turn (after a restart) joins the pending
	// request or returns how it was decided. When the turn is interrupted, Ask returns the outcome cancelled; when ctx ends,
	// the request is cancelled unless somebody else waits for it. Any other error means that the turn is over.
	Ask(ctx context.Context, a protocol.Approval) (Verdict, error)

	// Save keeps the agent's own state, at most 1 MiB, with the events emitted so far: Spec.State after a restart.
	Save(state []byte) error
}

// Host is what a session offers its agent at all times, turn or not. It outlives the agent.
type Host interface {
	// Emit is Output.Emit outside of a turn, for agent.options, context.updated, usage.updated, notice and raw.
	Emit(e Event) error

	// Save is Output.Save.
	Save(state []byte) error

	// RecordProcessGroup records a process group as soon as it runs, and its end: a restarted server ends the groups of a killed one.
	// It returns when the record is durable.
	RecordProcessGroup(g ProcessGroup) error

	// Logf logs for the server's owner.
	Logf(format string, args ...any)
}

// A Verdict is how a request was resolved.
type Verdict struct {
	Outcome  protocol.Outcome
	Decision protocol.Decision
	Option   string // the chosen option's id, when the agent offered it
	Reason   string
	Input    *protocol.ApprovalInput
	By       *protocol.Actor
}

// An Explainer can say why it asks, while the request stays pending.
type Explainer interface {
	Explain(ctx context.Context, a protocol.Approval) (string, error)
}

// A Compactor can make its context smaller.
type Compactor interface {
	Compact(ctx context.Context) (protocol.ContextCompactedData, error)
}

// A Measurer can tell how full its context is.
type Measurer interface {
	Context(ctx context.Context) (protocol.ContextInfo, error)
}

// A TaskController can cancel and restart single tasks of its plan while a turn runs. An unknown task is a protocol error not_found.
type TaskController interface {
	CancelTask(ctx context.Context, task string) error
	RestartTask(ctx context.Context, task string) error
}

// A Configurer has settings. It emits agent.options with the new values.
type Configurer interface {
	Configure(ctx context.Context, setting, value string) error
}

// An Exporter can hand out its own state, to be given to another agent as Spec.State.
type Exporter interface {
	Export(ctx context.Context) ([]byte, error)
}
