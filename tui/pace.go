package tui

import (
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/task"
	"agentctl/tui/ui"
)

const (
	// paceRate is what streaming text may write to a terminal over SSH, in bytes a second. 500
	// words a second are 3,400 bytes; the rest is for what a screen that scrolls writes again.
	paceRate = 7000

	// longestPace bounds the time that text waits, however much a frame wrote.
	longestPace = 500 * time.Millisecond
)

// A pace is the rate of what the screen writes to a terminal on a slow link. Streaming text is
// drawn less often the more a frame costs; nothing else waits. nil has no limit. Its methods are
// safe for concurrent use.
type pace struct {
	mu   sync.Mutex
	owed time.Duration // until the bytes written have left at paceRate, at time at
	at   time.Time
}

// newPace returns the pace of a terminal: nil unless its environment is one of SSH.
func newPace(env []string) *pace {
	e := ui.Environ(env)
	if e["SSH_CONNECTION"] == "" && e["SSH_TTY"] == "" {
		return nil
	}
	return new(pace)
}

// wrote counts bytes written to the terminal.
func (p *pace) wrote(bytes int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.owed = max(0, p.owed-now.Sub(p.at)) + time.Duration(bytes)*time.Second/paceRate
	p.owed, p.at = min(p.owed, longestPace), now
}

// wait returns the time until streaming text may be drawn.
func (p *pace) wait() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, p.owed-time.Since(p.at))
}

// updates returns the pace of a session's updates.
func (p *pace) updates() task.Pace[remote.Update] {
	if p == nil {
		return task.Pace[remote.Update]{Now: boundsCatchUp}
	}
	return task.Pace[remote.Update]{Wait: p.wait, Urgent: isUrgent, Now: boundsCatchUp}
}

// boundsCatchUp reports whether an update is the start or the end of a catch-up. The first frame of
// a session waits for both.
func boundsCatchUp(u remote.Update) bool {
	return u.Attached != nil || u.Event != nil && u.Event.Type == protocol.CaughtUp
}

// isUrgent reports whether an update is more than streaming text.
func isUrgent(u remote.Update) bool {
	if u.Event == nil {
		return true
	}
	switch u.Event.Type {
	case protocol.TextDelta, protocol.ReasoningDelta, protocol.ToolOutput, protocol.ToolInput, protocol.JoinedDeltas:
		return false
	}
	return true
}
