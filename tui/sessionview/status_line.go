package sessionview

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/replica"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// statusLine is the last line of the screen: connection, status message or turn, and details of the
// session.
type statusLine struct {
	styles       *ui.Styles
	replica      *replica.Session
	status       *ui.Status
	usage        *contextUsage
	runningTool  func() (title string, started time.Time)
	directory    directory
	now          func() time.Time
	answers      *ui.Answers
	listSessions bool   // the program has a list of sessions
	server       string // name of the session's server, or ""
	others       string // note about other sessions
	besideUsage  bool   // the side column shows context and cost
}

// view returns the line with a hint at its end. The least important details are left out first.
func (l *statusLine) view(width int, interrupting bool, hint string) string {
	s := l.styles
	turn := l.turnState(interrupting, width)
	message := format.JoinLines(transcript.Clean(l.status.Text))
	var left string
	switch caughtUp := l.replica.Connected() && l.replica.CaughtUp; {
	case caughtUp && message == "":
		left = " " + turn.render(s)
	case caughtUp:
		left = " " + turn.style.Render(turn.glyph) + " " + s.Warning.Render(message)
	case message != "":
		left = " " + l.connText(width) + " " + s.Warning.Render(message)
	default:
		left = " " + l.connText(width)
		if l.replica.Connected() {
			left += " " + turn.style.Render(turn.text)
		}
	}
	if text := l.answers.Text(); text != "" && l.replica.Connected() {
		left = " " + s.Warning.Render("○ "+text) + left
	}
	details := l.details(width, turn.style.Render(turn.text))
	room := width - transcript.Width(left) - 2
	right := l.join(details, s.Dim.Render(hint), room)
	if right == "" {
		right = l.join(details, "", room)
	}
	return ui.Spread(left, right, width)
}

// join returns the details that fit into room cells, followed by end. It returns "" if none fits.
func (l *statusLine) join(details []string, end string, room int) string {
	join := func(a, b string) string {
		if a == "" || b == "" {
			return a + b
		}
		return a + l.styles.Dim.Render(keymap.Separator) + b
	}
	joined := ""
	for _, part := range details {
		next := join(joined, part)
		if transcript.Width(join(next, end)) > room {
			break
		}
		joined = next
	}
	if joined == "" {
		return ""
	}
	return join(joined, end)
}

// details returns the details of the session, the most important first.
func (l *statusLine) details(width int, turn string) []string {
	s, state := l.styles, l.replica.State
	var out []string
	add := func(text string) {
		if text != "" {
			out = append(out, s.Dim.Render(text))
		}
	}
	if l.status.Text != "" && l.replica.Connected() {
		out = append(out, turn)
	}
	if l.others != "" {
		out = append(out, s.Warning.Render(l.others))
	}
	if text := policyText(state); text != "" {
		out = append(out, s.Warning.Render(text))
	}
	name := format.JoinLines(transcript.Clean(cmp.Or(state.Name, state.Title, ui.ShortID(state.Session))))
	server := ""
	if l.server != "" {
		server = s.Dim.Render(format.JoinLines(transcript.Clean(l.server)) + "/")
	}
	out = append(out, server+s.Bold.Render(name))
	if agent := describe.Agent(state.Agent); agent != name {
		add(agent)
	}
	out = append(out, l.contextDetails(width)...)
	if n := len(l.replica.Clients); n > 1 {
		add(format.Count(n, "client"))
	}
	add(l.lag())
	add(l.directory.text())
	if o := state.Options; o != nil {
		for i := range o.Settings {
			if o.Settings[i].ID == protocol.PolicySetting {
				continue
			}
			add(settingText(&o.Settings[i]))
		}
	}
	if state.Usage != nil && !l.besideUsage {
		add(describe.Cost(state.Usage))
	}
	if l.listSessions {
		add(s.Keys.Hint(keymap.ShowSessions, "sessions"))
	}
	return out
}

// contextDetails returns the context usage and the agent's speed, as far as they fit the width.
func (l *statusLine) contextDetails(width int) []string {
	s := l.styles
	var out []string
	if c := l.replica.State.Context; c != nil && c.MaxTokens > 0 {
		percent, _ := describe.ContextPercent(c)
		text := "context " + format.Percent(percent)
		if width >= 80 {
			text = s.ContextBar(percent, 6)
		}
		switch {
		case percent >= ui.ContextWarning:
			out = append(out, s.ContextStyle(percent).Render(text))
		case !l.besideUsage:
			out = append(out, s.Dim.Render(text))
		}
	}
	if speed := l.usage.speed(" tok/s"); speed != "" && width >= 80 {
		out = append(out, s.Dim.Render(speed))
	}
	return out
}

// progressBarWidth is the number of cells of a catch-up's progress bar.
const progressBarWidth = 10

// lag returns the lag of this client, or else the largest lag of another one. The server's report
// on this client may be older than the events received since.
func (l *statusLine) lag() string {
	if own := l.replica.Lag(); own > 0 {
		return fmt.Sprintf("lag %d", own)
	}
	if c, ok := l.replica.Slowest(); ok {
		return fmt.Sprintf("%s lags %d", format.JoinLines(transcript.Clean(c.By.Name)), c.LagEvents)
	}
	return ""
}

// connText returns the state of the connection for the status line.
func (l *statusLine) connText(width int) string {
	s, conn := l.styles, &l.replica.Conn
	switch conn.State {
	case remote.Connected:
		return s.Warning.Render("catching up" + progressText(l.replica.Progress(), width))
	case remote.Reconnecting:
		text := string(remote.Reconnecting)
		if wait := conn.Retry.Sub(l.now()); wait > 0 {
			text += fmt.Sprintf(" in %ds", format.SecondsLeft(wait))
		}
		if conn.Attempt > 1 {
			text += fmt.Sprintf(" (attempt %d)", conn.Attempt)
		}
		return s.Warning.Render("○ " + text)
	case remote.Offline:
		text := "○ " + string(remote.Offline)
		if conn.Reason != "" {
			text += ": " + format.JoinLines(transcript.Clean(conn.Reason))
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
