package tui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

const (
	catchupLong = 500 // events from which on a catch-up shows how far it is
	barCells    = 10
	reasonRows  = 3
)

// catchup is how far a catch-up has come, in seqs.
type catchup struct{ from, to uint64 }

// percent is -1 when there is nothing to tell.
func (c catchup) percent(seq uint64) int {
	if c.to < c.from+catchupLong {
		return -1
	}
	done := max(c.from, min(seq, c.to)) - c.from
	return int(100 * done / (c.to - c.from))
}

func (m *model) linked(l remote.Conn) {
	if l.Connection == "" {
		l.Connection, l.By = m.link.Connection, m.link.By
	}
	if m.link.State == remote.Connected && l.State != remote.Connected {
		m.absence.lost(m.now())
		m.editors.gone(m.link.By, m.state, m.now())
	}
	m.link = l
	m.approvals.waits = l.State != remote.Connected
	m.dirty = true
}

// retry tries to connect at once.
func (m *model) retry() tea.Cmd {
	r, ok := m.session.(remote.Retrier)
	switch {
	case m.link.State == remote.Connected:
		m.word = "connected"
		return nil
	case !ok || m.out:
		m.word = "this session cannot be reached any more"
		return nil
	}
	m.link.Retry = time.Time{}
	if m.link.State == remote.Offline {
		m.link = remote.Conn{State: remote.Connecting, Connection: m.link.Connection, By: m.link.By}
	}
	return m.errands.Run(func(context.Context) tea.Msg {
		r.Retry()
		return nil
	})
}

// linkText is the connection in the status line.
func (m *model) linkText(width int) string {
	switch m.link.State {
	case remote.Connected:
		if m.caughtUp {
			return m.look.good.Render("●")
		}
		return m.look.warn.Render("catching up" + m.progress(width))
	case remote.Reconnecting:
		s := string(remote.Reconnecting)
		if wait := m.link.Retry.Sub(m.now()); wait > 0 {
			s += fmt.Sprintf(" in %ds", seconds(wait))
		}
		if m.link.Attempt > 1 {
			s += fmt.Sprintf(" (attempt %d)", m.link.Attempt)
		}
		return m.look.warn.Render("○ " + s)
	case remote.Offline:
		s := "○ " + string(remote.Offline)
		if m.link.Reason != "" {
			s += ": " + oneLine(transcript.Clean(m.link.Reason))
		}
		return m.look.bad.Render(s)
	}
	return m.look.warn.Render("○ " + string(m.link.State))
}

// progress is how far a long catch-up is: a bar where there is room, and a
// number.
func (m *model) progress(width int) string {
	percent := m.catchup.percent(m.state.Seq)
	if percent < 0 {
		return ""
	}
	number := fmt.Sprintf(" %d%%", percent)
	if width < 60 {
		return number
	}
	full := percent * barCells / 100
	return " " + strings.Repeat("█", full) + strings.Repeat("░", barCells-full) + number
}

// outage says why there is no connection and what to do about it, once that is
// not a matter of a moment.
func (m *model) outage(width int) []string {
	l := &m.link
	style, why := &m.look.bad, l.Reason
	var advice []string
	switch {
	case l.State == remote.Offline:
		why = cmp.Or(why, "the session tells no more")
		advice = append(advice, oneLine(transcript.Clean(l.Advice)), m.again(), "ctrl+c twice leaves")
	case l.State == remote.Reconnecting && l.Attempt > 1:
		style, why = &m.look.warn, cmp.Or(why, "the connection was lost")
		advice = append(advice, oneLine(transcript.Clean(l.Advice)), m.again(), "you can read on, and what you send waits")
	default:
		return nil
	}
	advice = slices.DeleteFunc(advice, func(s string) bool { return s == "" })
	out := []string{m.look.rule(style.Render("no connection"), width)}
	reason := wrap(transcript.Clean(why), width-indent)
	if len(reason) > reasonRows {
		reason = append(reason[:reasonRows-1], "…")
	}
	for _, line := range reason {
		out = append(out, "   "+style.Render(line))
	}
	for _, line := range wrap(strings.Join(advice, " · "), width-indent) {
		out = append(out, "   "+m.look.dim.Render(line))
	}
	return out
}

// again is the hint of the key that tries again, where that can be.
func (m *model) again() string {
	if _, ok := m.session.(remote.Retrier); !ok || m.out {
		return ""
	}
	return m.look.keys.Hint(keymap.Reconnect, "tries again now")
}

// attached begins a catch-up: what comes until it is over was missed.
func (m *model) attached(a *protocol.SubscribeResult) {
	again := m.state.Session != ""
	if again {
		m.absence.returns(a, m.state.Seq)
	}
	m.caughtUp = false
	m.catchup = catchup{a.After.Seq, a.Position.Seq}
	clear(m.clients)
	for _, c := range a.Clients {
		m.clients[c.Client] = c
	}
	if a.Mode == protocol.ModeResume || a.Snapshot == nil {
		if again && a.Position.Seq > m.state.Seq && m.absence.long(m.now()) {
			m.story.mark("the connection was lost here")
		}
		return
	}
	if a.Mode == protocol.ModeReset {
		m.word = reattached(a.Mode, a.Reason)
	}
	m.epoch, m.state = a.Snapshot.Epoch, a.Snapshot.State
	if m.state.Session == "" {
		m.state.Session = a.Session
	}
	m.composer.recall.past = nil
	m.endCopying()
	m.endFind()
	m.trip = nil
	m.story.reset(a.After.Seq, m.width, m.height)
	m.meter.Reset(m.state)
	m.pastOf = ""
}

// arrived ends a catch-up.
func (m *model) arrived() {
	m.caughtUp = true
	if said := m.absence.over(m.now(), m.state.Seq); said != "" {
		m.story.mark(said)
	}
}
