package session

import (
	"log/slog"
	"time"
)

// Config is what a hub needs. Zero durations take the defaults named.
type Config struct {
	Store        Store
	Agents       Agents
	DefaultAgent string       // of a create that names none
	Log          *slog.Logger // nil: none

	// KillProcessGroup ends a process group that a killed server left, if its leader still is the process that was recorded.
	KillProcessGroup func(ProcessGroup) error

	ApprovalTimeout time.Duration // of a pending approval; 0: none
	EditHold        time.Duration // how long an edit hold outlives its connection; 30 s
	InterruptGrace  time.Duration // how long an interrupted agent may take before it is closed; 10 s
	UnloadAfter     time.Duration // of an idle, unwatched session; 10 min
	StateTTL        time.Duration // of an exported state; 7 days
	Secret          []byte        // signs exported states; nil: minted, so that they hold until the server ends
}

func (c *Config) defaults() {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&c.EditHold, 30 * time.Second},
		{&c.InterruptGrace, 10 * time.Second},
		{&c.UnloadAfter, 10 * time.Minute},
		{&c.StateTTL, 7 * 24 * time.Hour},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Secret == nil {
		c.Secret = []byte(NewID("secret"))
	}
	if c.KillProcessGroup == nil {
		c.KillProcessGroup = func(ProcessGroup) error { return nil }
	}
}

// AnswerTTL is how long the answer to a command key is kept.
const AnswerTTL = 7 * 24 * time.Hour
