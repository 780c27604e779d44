package session

import (
	"context"
	"time"

	"agentctl/protocol"
	"agentctl/server/policy"
)

// Agents opens the agents of sessions.
type Agents interface {
	// Open makes an agent for a session. It does no slow work: a process starts with Start or Run.
	// For an unknown agent the error has the code no_agent.
	Open(spec Spec, host Host) (Agent, error)

	// Names lists the configured agents, for hello and completion.
	Names() []string
}

// Conversations is implemented by Agents whose agents store conversations themselves.
type Conversations interface {
	// HasConversations reports whether an agent stores conversations. Else the state of its
	// sessions, which may be long, is not decoded at the start of the server.
	HasConversations(agent string) bool

	// Conversation identifies the agent's own conversation of a session, among all agents. It is
	// empty if there is none yet.
	Conversation(spec *Spec) string
}

// FileKeeper is implemented by Agents that keep files of sessions.
type FileKeeper interface {
	// RemoveFiles removes the files of all sessions but those that exist.
	RemoveFiles(exists func(session string) bool)
}

// A Spec describes a session's agent. It is stored, and never sent to clients.
type Spec struct {
	Session string            `json:"-"`
	Agent   string            `json:"agent"` // configured name, preset, "acp:COMMAND ARG…", "script:FILE"
	CWD     string            `json:"cwd,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	State   []byte            `json:"state,omitempty"` // as last saved by the agent
	Title   string            `json:"title,omitempty"` // as last given by the agent

	SealedEnv []byte `json:"sealed_env,omitempty"` // Env in the store; else of an environment without its key

	policy.Choice // what decides about requests in place of users

	OwnDirectories []string `json:"-"` // Config.OwnDirectories

	Settings map[string]string `json:"settings,omitempty"` // to be applied before the first turn
	Load     string            `json:"load,omitempty"`     // the agent's own id of a session to continue
	Lazy     bool              `json:"lazy,omitempty"`     // the agent starts with the first message
	Checking bool              `json:"checking,omitempty"` // the session exists only if its agent starts
	Parent   string            `json:"parent,omitempty"`   // the session whose agent created this one
	Imported bool              `json:"imported,omitempty"` // the agent has yet to get the imported past
	IdleEnd  *time.Time        `json:"idle_end,omitempty"` // when the agent was ended for idleness; nil: it was not
}

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
	// Options; options of the agent keep their ids. A rule may answer at once. A request id used
	// before in this turn, possibly before a restart, waits for the pending request or returns its
	// verdict. When the turn is interrupted, the outcome is cancelled. When ctx ends, Ask returns
	// its error and the request is cancelled, unless another call waits for it. Any other error
	// means that the turn is over.
	Ask(ctx context.Context, a protocol.Approval) (Verdict, error)

	// Save stores the agent's own state, at most 1 MiB, in one commit with the events emitted so
	// far. After a restart it is in Spec.State.
	Save(state []byte) error
}

// Host serves an agent at all times, in a turn or not. It outlives the agent.
type Host interface {
	// Emit is Output.Emit outside a turn, for agent.options, context.updated, usage.updated, notice
	// and raw; and for session.updated with a title, which replaces none but the agent's own.
	Emit(e Event) error

	// Save is Output.Save.
	Save(state []byte) error

	// RecordProcessGroup records that a process group runs, or has ended: a restarted server kills
	// the groups of a killed one. It returns when the record is durable.
	RecordProcessGroup(g ProcessGroup) error

	// Transcript returns the conversation of the finished turns as text, at most that many bytes of
	// its end. An agent that has lost its own record reads it.
	Transcript(ctx context.Context, most int) (string, error)

	// RecordConversation records what was said before the session: as the text of one finished
	// turn with that message, or of a notice if a turn runs. It returns when the session has it.
	RecordConversation(message, text string) error

	// Logf writes to the server's log.
	Logf(format string, args ...any)
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

// A Measurer reports its context usage, and what takes the room if it knows.
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
	// Fork returns a state that ends with a turn; empty: before the first.
	Fork(ctx context.Context, turn string) ([]byte, error)
}

// An Undoer forgets its last turn. It is called while no turn runs.
type Undoer interface {
	// Undo forgets the last turn, and restores files that its tools changed if it is to. If there
	// is none that it can forget, the error has the code conflict.
	Undo(ctx context.Context, files bool) (Undone, error)
}

// An Undone is a turn that was forgotten. Restored and Kept are the files that its tools changed:
// those that are as before it, and those that were changed since.
type Undone struct {
	Turn     string
	Restored []string
	Kept     []string
}

// An Exporter exports its own state, to be passed to another agent in Spec.State.
type Exporter interface {
	Export(ctx context.Context) ([]byte, error)
}
