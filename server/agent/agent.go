package agent

import (
	"context"
	"time"

	"agentctl/protocol"
	"agentctl/server/policy"
	"agentctl/server/sandbox"
)

// An Agent runs the turns of one session: one Run at a time; its other methods may be called from
// any goroutine. An agent may also be a Starter, Explainer, Compactor, Measurer, TaskController,
// Configurer, Exporter, Forker, Undoer or Steerer. Commands for the others are answered unsupported.
type Agent interface {
	// Capabilities is constant.
	Capabilities() Capabilities

	// Run runs one turn and returns how it ended. Canceling ctx interrupts it: Run stops the work,
	// may still emit its results, and returns soon; an agent that does not is closed after
	// Config.InterruptGrace. The session closes parts, tools and approvals that Run leaves open. An
	// error ends the turn with reason error and the code of the error, if it is a protocol error.
	Run(ctx context.Context, turn Turn, out Output) (End, error)

	// Close stops the agent and all its processes, and returns when they have exited. Run returns
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
	TakesServers bool // gives its model Spec.MCPServers
	HasPolicy    bool // has the setting policy and asks by it; else the session decides by its own

	// ContinuesPlans: accepts a Turn.Plan with completed tasks and keeps their results. A task of a
	// plan that is over can then be restarted.
	ContinuesPlans bool

	ReadTools []string // names of its tools that only read, which a policy may allow
}

// A Turn is the input of Agent.Run.
type Turn struct {
	ID      string
	Message protocol.Message
	Plan    *protocol.PlanRunData // run these tasks, do not plan; nil: none
	Resumed bool                  // the turn began before a restart: continue from Spec.State
	Shown   []ShownText           // of a resumed turn: its texts and its tasks' in the log, oldest first

	Steering Steering // messages that join the turn; nil: none do
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
	Limit   *Limit // with reason limited; nil: nothing is known of it
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

	// MCPServers are given to the agent in addition to the configured ones. Their values are literal.
	MCPServers       []protocol.MCPServer `json:"mcp_servers,omitempty"`
	SealedMCPServers []byte               `json:"sealed_mcp_servers,omitempty"` // as SealedEnv

	policy.Choice // decides requests instead of users

	// Sandbox confines every process that the agent starts. Box enforces it. The registry of agents makes
	// Box when it opens the agent, with SandboxDir for its files.
	Sandbox    protocol.Sandbox `json:"sandbox,omitzero"`
	SandboxDir string           `json:"-"`
	Box        *sandbox.Box     `json:"-"`

	OwnDirectories []string `json:"-"` // Config.OwnDirectories

	Settings map[string]string `json:"settings,omitempty"`  // to be applied before the first turn
	Load     string            `json:"load,omitempty"`      // the agent's own id of a session to continue
	Lazy     bool              `json:"lazy,omitempty"`      // the agent starts with the first message
	Checking bool              `json:"checking,omitempty"`  // the session exists only if its agent starts
	Parent   string            `json:"parent,omitempty"`    // the session whose agent created this one
	SubAgent *SubAgent         `json:"sub_agent,omitempty"` // that the session shows; nil: it has its own agent
	Imported bool              `json:"imported,omitempty"`  // the agent has yet to get the imported past
	IdleEnd  *time.Time        `json:"idle_end,omitempty"`  // when the agent was ended for idleness; nil: it was not

	AfterLimit *AfterLimit `json:"after_limit,omitempty"` // nil: no choice
}
