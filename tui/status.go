package tui

import (
	"cmp"
	"fmt"
	"time"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"

	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// status is the last line: what is said to the person, the connection, and what
// the session is and does. What matters least gives way first.
func (m *model) status(width int) string {
	if m.leaving {
		return m.look.warn.Render(fit(" press ctrl+c again to leave; the session goes on", width))
	}
	left := " " + m.linkText(width)
	switch {
	case m.word != "":
		left += " " + m.look.warn.Render(oneLine(transcript.Clean(m.word)))
	case m.link.State == remote.Connected:
		left += " " + m.turnText()
	}
	room := width - ansi.StringWidth(left) - 2
	right := m.beside(m.look.dim.Render(m.helpHint()), room)
	if right == "" {
		right = m.beside("", room)
	}
	return spread(left, right, width)
}

// beside is as many of the details as fit before what stands at the end.
func (m *model) beside(end string, room int) string {
	joined := func(a, b string) string {
		if a == "" || b == "" {
			return a + b
		}
		return a + m.look.dim.Render(keymap.Separator) + b
	}
	all := ""
	for _, part := range m.details() {
		next := joined(all, part)
		if ansi.StringWidth(joined(next, end)) > room {
			break
		}
		all = next
	}
	if all == "" {
		return ""
	}
	return joined(all, end)
}

// helpHint is the key that shows the keys, where the focus is.
func (m *model) helpHint() string {
	keys := m.look.keys
	switch {
	case m.focus == onComposer && m.composer.empty() && keys.Key(keymap.ComposerHelp) != "":
		return keys.Hint(keymap.ComposerHelp, "help")
	case m.focus == onStory && keys.Key(keymap.TranscriptHelp) != "":
		return keys.Hint(keymap.TranscriptHelp, "help")
	}
	return keys.Hint(keymap.Help, "help")
}

// details are the parts at the right end, the most important first.
func (m *model) details() []string {
	var out []string
	add := func(s string) {
		if s != "" {
			out = append(out, m.look.dim.Render(s))
		}
	}
	if m.word != "" && m.link.State == remote.Connected {
		out = append(out, m.turnText())
	}
	if m.others != "" {
		out = append(out, m.look.warn.Render(m.others))
	}
	name := oneLine(transcript.Clean(cmp.Or(m.state.Name, m.state.Title, short(m.state.Session))))
	out = append(out, m.look.bold.Render(name))
	add(agentOf(m.state.Agent))
	out = append(out, m.fullness()...)
	if n := len(m.clients); n > 1 {
		add(count(n, "client"))
	}
	add(m.lag())
	if o := m.state.Options; o != nil {
		for _, set := range o.Settings {
			add(oneLine(transcript.Clean(set.Value)))
		}
	}
	if m.desk {
		add(m.look.keys.Hint(keymap.ShowSessions, "sessions"))
	}
	if m.state.Seq > 0 {
		add(short(m.epoch) + ":" + fmt.Sprint(m.state.Seq))
	}
	return out
}

// lagShown is how many events behind somebody must be for it to be told; less
// is what is always on its way.
const lagShown = 20

// lag tells how far this client is behind, or else the one furthest behind. What
// the server told of this one may be older than what has come since.
func (m *model) lag() string {
	var most protocol.Client
	for id, c := range m.clients {
		if id == m.link.Connection {
			if end := c.Acked + c.LagEvents; end >= m.state.Seq+lagShown {
				return fmt.Sprintf("lag %d", end-m.state.Seq)
			}
			continue
		}
		if c.LagEvents > most.LagEvents || c.LagEvents == most.LagEvents && c.Client < most.Client {
			most = c
		}
	}
	if most.LagEvents < lagShown {
		return ""
	}
	return fmt.Sprintf("%s lags %d", oneLine(transcript.Clean(most.By.Name)), most.LagEvents)
}

func (m *model) turnText() string {
	t := m.state.Turn
	switch {
	case m.interrupt.sent:
		return m.look.warn.Render("interrupting …")
	case m.state.Closed:
		return "closed"
	case t == nil && m.state.Last != nil && m.state.Last.Reason != protocol.ReasonCompleted:
		return "idle, last turn " + oneLine(transcript.Clean(string(m.state.Last.Reason)))
	case t == nil:
		return "idle"
	case len(m.state.Approvals) > 0:
		return m.look.warn.Render("waiting for " + count(len(m.state.Approvals), "approval"))
	}
	s := "running"
	if d := m.now().Sub(t.Started); d >= time.Second {
		s += " " + took(d.Truncate(time.Second))
	}
	return s
}

// short is the beginning of an id.
func short(id string) string { return id[:min(len(id), 6)] }
