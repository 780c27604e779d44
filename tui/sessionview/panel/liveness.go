package panel

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/remote"
)

const (
	askAfter    = 3 * time.Second  // of silence, and again after each answer
	silentAfter = 40 * time.Second // until the silence of the agent is shown
)

// Liveness measures how long the agent and the server are silent while a turn runs. It asks a silent
// server for an answer: [request.Sender] shows that none comes. It asks nothing while the session is
// hidden, no turn runs or the turn waits for a person.
type Liveness struct {
	Base
	Hidden func() bool // the session is not on the screen

	heard time.Time // when the server last sent something
	asked bool      // and has not answered

	turn  string    // of the last event of the agent
	event time.Time // of the last event of the agent
}

// works reports whether the agent works on a turn.
func (l *Liveness) works() bool {
	s := l.Replica.State
	return s.Turn != nil && len(s.Approvals) == 0 && l.Replica.Process == nil && !l.Replica.Recorded
}

// Apply implements [Follower].
func (l *Liveness) Apply(e *protocol.Event) {
	if !e.Durable() || e.Turn == "" {
		return
	}
	l.turn, l.event = e.Turn, e.Time
	if l.Replica.CaughtUp {
		l.event = l.Now() // the clock of the server may differ
	}
}

// Updated implements [Part].
func (l *Liveness) Updated() tea.Cmd {
	l.heard = l.Now()
	if t := l.Replica.State.Turn; t != nil && t.Turn != l.turn {
		l.turn, l.event = t.Turn, l.heard // its events are older than the snapshot
	}
	return nil
}

// Deadline implements [ui.Timed].
func (l *Liveness) Deadline() time.Time {
	if l.asked || l.Hidden() || !l.works() || !l.Replica.Connected() || !l.Replica.CaughtUp || !l.canAsk() {
		return time.Time{}
	}
	return l.heard.Add(askAfter)
}

// canAsk reports whether the server is native, so that it continues updates: others have no command
// that asks for nothing.
func (l *Liveness) canAsk() bool {
	r, ok := l.Commands.Session.(remote.Resumer)
	return ok && r.Resumes()
}

// Due implements [ui.Timed].
func (l *Liveness) Due() (cmd tea.Cmd, changed bool) {
	l.asked = true
	return l.Commands.Send(protocol.DoPing, protocol.Empty{}, nil, func(error) tea.Cmd {
		l.asked, l.heard = false, l.Now()
		return nil
	}), false
}

// Silence returns how long a working agent has been silent, or 0 for a short time.
func (l *Liveness) Silence() time.Duration {
	if silent := l.Now().Sub(l.event); l.works() && silent >= silentAfter {
		return silent.Truncate(time.Second)
	}
	return 0
}
