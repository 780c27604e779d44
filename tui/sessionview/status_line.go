package sessionview

import (
	"cmp"
	"fmt"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// statusLine returns the last line: connection, status message or turn, and details of the session.
// The least important details are left out first.
func (v *View) statusLine(width int) string {
	s := v.Styles
	if v.pressed.quit {
		return s.Warning.Render(ui.Fit(" press ctrl+c again to leave; the session goes on", width))
	}
	left := " " + v.connText(width)
	switch {
	case v.status.Text != "":
		left += " " + s.Warning.Render(ui.OneLine(transcript.Clean(v.status.Text)))
	case v.replica.connected():
		left += " " + v.turnText()
	}
	room := width - ansi.StringWidth(left) - 2
	right := v.detailsBefore(s.Dim.Render(v.helpHint()), room)
	if right == "" {
		right = v.detailsBefore("", room)
	}
	return ui.Spread(left, right, width)
}

// detailsBefore returns the details that fit into room cells, followed by end.
func (v *View) detailsBefore(end string, room int) string {
	join := func(a, b string) string {
		if a == "" || b == "" {
			return a + b
		}
		return a + v.Styles.Dim.Render(keymap.Separator) + b
	}
	joined := ""
	for _, part := range v.details() {
		next := join(joined, part)
		if ansi.StringWidth(join(next, end)) > room {
			break
		}
		joined = next
	}
	if joined == "" {
		return ""
	}
	return join(joined, end)
}

// helpHint returns the key that opens the help of the part with the focus.
func (v *View) helpHint() string {
	keys := v.Styles.Keys
	switch {
	case v.focus == onComposer && v.composer.Empty() && keys.Key(keymap.ComposerHelp) != "":
		return keys.Hint(keymap.ComposerHelp, "help")
	case v.focus == onTranscript && keys.Key(keymap.TranscriptHelp) != "":
		return keys.Hint(keymap.TranscriptHelp, "help")
	}
	return keys.Hint(keymap.Help, "help")
}

// details returns the details of the session, the most important first.
func (v *View) details() []string {
	s, state := v.Styles, v.replica.state
	var out []string
	add := func(text string) {
		if text != "" {
			out = append(out, s.Dim.Render(text))
		}
	}
	if v.status.Text != "" && v.replica.connected() {
		out = append(out, v.turnText())
	}
	if v.others != "" {
		out = append(out, s.Warning.Render(v.others))
	}
	name := ui.OneLine(transcript.Clean(cmp.Or(state.Name, state.Title, ui.ShortID(state.Session))))
	out = append(out, s.Bold.Render(name))
	add(describe.Agent(state.Agent))
	out = append(out, v.contextDetails()...)
	if n := len(v.replica.clients); n > 1 {
		add(ui.Count(n, "client"))
	}
	add(v.lag())
	if o := state.Options; o != nil {
		for _, set := range o.Settings {
			add(ui.OneLine(transcript.Clean(set.Value)))
		}
	}
	if v.Sessions {
		add(s.Keys.Hint(keymap.ShowSessions, "sessions"))
	}
	if state.Seq > 0 {
		add(ui.ShortID(v.replica.epoch) + ":" + fmt.Sprint(state.Seq))
	}
	return out
}

// contextDetails returns the context usage and the agent's speed, as far as they fit the width.
func (v *View) contextDetails() []string {
	s, width := v.Styles, v.canvas.Width
	var out []string
	if c := v.replica.state.Context; c != nil && c.MaxTokens > 0 {
		text := "context " + ui.Percent(c.Percent)
		if width >= 80 {
			text = s.ContextBar(c.Percent, 6)
		}
		style := &s.Dim
		if c.Percent >= ui.ContextWarning {
			style = s.ContextStyle(c.Percent)
		}
		out = append(out, style.Render(text))
	}
	if speed := v.usage.speed(" tok/s"); speed != "" && width >= 80 {
		out = append(out, s.Dim.Render(speed))
	}
	return out
}

// minLag is the minimum number of events for a client's lag to be shown.
const minLag = 20

// lag returns the lag of this client, or else the largest lag of another one. The server's report
// on this client may be older than the events received since.
func (v *View) lag() string {
	var slowest protocol.Client
	seq := v.replica.state.Seq
	for id, c := range v.replica.clients {
		if id == v.replica.conn.Connection {
			if end := c.Acked + c.LagEvents; end >= seq+minLag {
				return fmt.Sprintf("lag %d", end-seq)
			}
			continue
		}
		if c.LagEvents > slowest.LagEvents || c.LagEvents == slowest.LagEvents && c.Client < slowest.Client {
			slowest = c
		}
	}
	if slowest.LagEvents < minLag {
		return ""
	}
	return fmt.Sprintf("%s lags %d", ui.OneLine(transcript.Clean(slowest.By.Name)), slowest.LagEvents)
}

// turnText returns the state of the turn.
func (v *View) turnText() string {
	s, state := v.Styles, v.replica.state
	t := state.Turn
	switch {
	case v.panels.interrupt.sent:
		return s.Warning.Render("interrupting …")
	case state.Closed:
		return "closed"
	case t == nil:
		return idleText(state.Last)
	case len(state.Approvals) > 0:
		return s.Warning.Render("waiting for " + ui.Count(len(state.Approvals), "approval"))
	}
	text := "running"
	if d := v.Now().Sub(t.Started); d >= time.Second {
		text += " " + ui.Duration(d.Truncate(time.Second))
	}
	return text
}

// idleText returns the state of an idle session. It names the outcome of the last turn unless that
// completed.
func idleText(last *protocol.LastTurn) string {
	if last == nil || last.Reason == protocol.ReasonCompleted {
		return "idle"
	}
	reason := ui.OneLine(transcript.Clean(string(last.Reason)))
	if last.Reason == protocol.ReasonError {
		reason = "failed"
	}
	return "idle · last turn " + reason
}
