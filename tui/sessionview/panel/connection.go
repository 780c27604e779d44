package panel

import (
	"cmp"
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// maxReasonRows is the maximum number of rows of a reason.
const maxReasonRows = 3

// Connection shows why there is no connection and what to do.
type Connection struct{ Base }

// Actions returns the actions of the panel.
func (p *Connection) Actions() Actions { return Actions{keymap.Reconnect: Run(p.Retry)} }

// Retry makes the session connect now instead of at the next attempt.
func (p *Connection) Retry() tea.Cmd {
	session, ok := p.Commands.Session.(remote.Retrier)
	switch {
	case p.Replica.Connected():
		p.Commands.Status.Text = "connected"
		return nil
	case !ok || p.Replica.Ended:
		p.Commands.Status.Text = "this session can no longer be reached"
		return nil
	}
	p.Replica.Retry()
	return p.Commands.Tasks.Run(func(context.Context) tea.Msg {
		session.Retry()
		return nil
	})
}

// View returns the lines of the panel. It returns nil while connected or connecting and during the
// first attempt to reconnect.
func (p *Connection) View(width, _ int) []string {
	s, conn := p.Styles, &p.Replica.Conn
	style, reason := &s.Error, conn.Reason
	serverAdvice := transcript.CleanLine(conn.Advice)
	var advice []string
	switch {
	case conn.State == remote.Offline:
		reason = cmp.Or(reason, "the session has ended its updates")
		advice = append(advice, serverAdvice, p.retryHint(), "ctrl+c twice leaves")
	case conn.State == remote.Reconnecting && conn.Attempt > 1:
		style, reason = &s.Warning, cmp.Or(reason, "the connection was lost")
		advice = append(advice, serverAdvice, p.retryHint(), "you can read on; messages wait")
	default:
		return nil
	}
	advice = slices.DeleteFunc(advice, func(part string) bool { return part == "" })
	out := []string{s.Rule(style.Render("no connection"), width)}
	reasonLines := ui.Wrap(transcript.Clean(reason), width-ui.Indent)
	if len(reasonLines) > maxReasonRows {
		reasonLines = append(reasonLines[:maxReasonRows-1], "…")
	}
	for _, line := range reasonLines {
		out = append(out, "   "+style.Render(line))
	}
	for _, line := range ui.Wrap(strings.Join(advice, " · "), width-ui.Indent) {
		out = append(out, "   "+line)
	}
	return out
}

// retryHint returns the key that reconnects, or "" if the session cannot.
func (p *Connection) retryHint() string {
	if _, ok := p.Commands.Session.(remote.Retrier); !ok || p.Replica.Ended {
		return ""
	}
	return p.Styles.Keys.Hint(keymap.Reconnect, "tries again now")
}
