package session

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"agentctl/server/agent"
	"agentctl/server/archive"
	"agentctl/server/session/approval"
	"agentctl/server/session/queue"
	"agentctl/server/session/upkeep"
)

// Config configures a Hub. Zero durations mean the defaults given.
type Config struct {
	Store        Store
	Agents       Agents
	DefaultAgent string       // of a create without an agent
	Log          *slog.Logger // nil: discard

	System
	Limits          Limits
	ApprovalTimeout time.Duration    // of a pending approval; 0: none
	EditHold        time.Duration    // for an edit hold to outlive its connection; 30 s
	InterruptGrace  time.Duration    // for an interrupted agent to return before it is closed; 10 s
	UnloadAfter     time.Duration    // of an idle session without subscribers; 10 min
	AgentIdle       time.Duration    // of the process of an idle agent, if a later one continues the conversation; 12 h
	Retention       upkeep.Retention // of unused sessions; zero: unlimited
	StateTTL        time.Duration    // of an exported state; 7 days

	ContinueAfterLimit int // continuations of a new session after usage limits, unless its creator chooses

	Files
	archive.Signing // of exported states
}

// A System holds the functions of the program that sessions use.
type System struct {
	// KillProcessGroup kills a process group that a killed server left, if its leader is still the
	// recorded process.
	KillProcessGroup func(agent.ProcessGroup) error

	// Confine prepares the sandbox of a session's agent: its directory, with the socket by which the
	// processes of the agent reach the server. release removes it. nil: sessions with a sandbox are
	// refused.
	Confine func(session string) (dir string, release func(), err error)

	// Permits reports whether the user of a choice may still send messages; nil: always.
	Permits func(*agent.AfterLimit) bool

	// RemoveWorktree removes the git worktree at the directory of a session that is deleted, unless
	// work would be lost. It returns why it stays, or "". nil: worktrees stay.
	RemoveWorktree func(ctx context.Context, dir string) (kept string)
}

// Files are agentctl's own.
type Files struct {
	EnvKey         []byte   // encrypts the environment of sessions in the store; nil: it is stored as it is
	OwnDirectories []string // absolute and without links: no policy allows changes of files in them
}

func (c *Config) defaults() {
	c.Limits.defaults()
	c.EditHold = cmp.Or(c.EditHold, 30*time.Second)
	c.InterruptGrace = cmp.Or(c.InterruptGrace, 10*time.Second)
	c.UnloadAfter = cmp.Or(c.UnloadAfter, 10*time.Minute)
	c.AgentIdle = cmp.Or(c.AgentIdle, 12*time.Hour)
	c.StateTTL = cmp.Or(c.StateTTL, 7*24*time.Hour)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Secret == nil {
		c.Secret = []byte(NewID("secret"))
	}
	if c.KillProcessGroup == nil {
		c.KillProcessGroup = func(agent.ProcessGroup) error { return nil }
	}
}

// settings returns the current settings, as the last Reconfigure set them.
func (h *Hub) settings() *Config { return h.current.Load() }

// Reconfigure changes settings of the hub: the default agent, limits, timeouts except grace times, and
// continuations. They apply to later operations. It ignores the other fields.
func (h *Hub) Reconfigure(cfg Config) {
	cfg.defaults()
	next := h.cfg
	next.DefaultAgent, next.Limits = cfg.DefaultAgent, cfg.Limits
	next.ApprovalTimeout, next.EditHold = cfg.ApprovalTimeout, cfg.EditHold
	next.AgentIdle, next.StateTTL, next.ContinueAfterLimit = cfg.AgentIdle, cfg.StateTTL, cfg.ContinueAfterLimit
	h.current.Store(&next)
}

// Limits bound the sessions of a server and what each holds. Zero values mean the defaults given.
// Together with the bounds of events they keep every snapshot below protocol.MaxResult.
type Limits struct {
	Sessions int // of the server, closed ones included; 20,000
	Agents   int // concurrent processes of agents; 500
	Queue    int // messages in the queue of a session; 1,000
	Requests int // pending requests of a session; 100
	Rules    int // of a session; 500

	SubAgents int // below a session, closed ones included; 256

	Bytes int64 // of a session's queue, of its pending requests, and of its rules, each encoded; 4 MiB
	Disk  int64 // bytes of the store beyond which no message and no session is accepted; unlimited

	// LogMemory bounds the older events in memory, beyond the newest MiB of each session; 64 MiB
	// for all sessions. It is read once.
	LogMemory int64
}

func (l *Limits) defaults() {
	l.Sessions = cmp.Or(l.Sessions, 20_000)
	l.Agents = cmp.Or(l.Agents, 500)
	l.Queue = cmp.Or(l.Queue, 1000)
	l.Requests = cmp.Or(l.Requests, 100)
	l.Rules = cmp.Or(l.Rules, 500)
	l.SubAgents = cmp.Or(l.SubAgents, 256)
	l.Bytes = cmp.Or(l.Bytes, 4<<20)
	l.LogMemory = cmp.Or(l.LogMemory, 64<<20)
}

// queue returns the limits of a session's queue.
func (l *Limits) queue() queue.Limits { return queue.Limits{Messages: l.Queue, Bytes: l.Bytes} }

// approvals returns the limits of a session's requests and rules.
func (l *Limits) approvals() approval.Limits {
	return approval.Limits{Requests: l.Requests, Rules: l.Rules, Bytes: l.Bytes}
}
