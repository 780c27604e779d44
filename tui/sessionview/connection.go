package sessionview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

const (
	progressBarWidth = 10
	maxReasonRows    = 3
)

// connText returns the state of the connection for the status line.
func (v *View) connText(width int) string {
	s, conn := v.Styles, &v.replica.conn
	switch conn.State {
	case remote.Connected:
		if v.replica.caughtUp {
			return s.Success.Render("●")
		}
		return s.Warning.Render("catching up" + progressText(v.replica.progress(), width))
	case remote.Reconnecting:
		text := string(remote.Reconnecting)
		if wait := conn.Retry.Sub(v.Now()); wait > 0 {
			text += fmt.Sprintf(" in %ds", ui.Seconds(wait))
		}
		if conn.Attempt > 1 {
			text += fmt.Sprintf(" (attempt %d)", conn.Attempt)
		}
		return s.Warning.Render("○ " + text)
	case remote.Offline:
		text := "○ " + string(remote.Offline)
		if conn.Reason != "" {
			text += ": " + ui.OneLine(transcript.Clean(conn.Reason))
		}
		return s.Error.Render(text)
	}
	return s.Warning.Render("○ " + string(conn.State))
}

// progressText returns the progress of a long catch-up as a number, with a bar where there is room.
// It returns "" for a negative percentage.
func progressText(percent, width int) string {
	if percent < 0 {
		return ""
	}
	number := fmt.Sprintf(" %d%%", percent)
	if width < 60 {
		return number
	}
	full := percent * progressBarWidth / 100
	return " " + strings.Repeat("█", full) + strings.Repeat("░", progressBarWidth-full) + number
}

// connectionPanel returns a panel with the reason for a missing connection and what to do. It
// returns nil while connected or connecting and during the first attempt to reconnect.
func (v *View) connectionPanel(width int) []string {
	s, conn := v.Styles, &v.replica.conn
	style, reason := &s.Error, conn.Reason
	serverAdvice := ui.OneLine(transcript.Clean(conn.Advice))
	var advice []string
	switch {
	case conn.State == remote.Offline:
		reason = cmp.Or(reason, "the session has ended its updates")
		advice = append(advice, serverAdvice, v.retryHint(), "ctrl+c twice leaves")
	case conn.State == remote.Reconnecting && conn.Attempt > 1:
		style, reason = &s.Warning, cmp.Or(reason, "the connection was lost")
		advice = append(advice, serverAdvice, v.retryHint(), "you can read on; messages wait")
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
		out = append(out, "   "+s.Dim.Render(line))
	}
	return out
}

// retryHint returns the key that reconnects, or "" if the session cannot.
func (v *View) retryHint() string {
	if _, ok := v.Session.(remote.Retrier); !ok || v.replica.ended {
		return ""
	}
	return v.Styles.Keys.Hint(keymap.Reconnect, "tries again now")
}
