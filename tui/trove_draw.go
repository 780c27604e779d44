package tui

import (
	"strings"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// hitNames are what holds a hit, in a word.
var hitNames = map[protocol.HitKind]string{
	protocol.HitUser: "message", protocol.HitText: "answer", protocol.HitReasoning: "thought", protocol.HitTool: "tool",
	protocol.HitApproval: "approval", protocol.HitError: "error",
}

// glimpseRows is how many lines of the chosen hit show below the list.
const glimpseRows = 2

// show makes the trove the whole screen.
func (t *trove) show(d *desk, v *tea.View) {
	lines := t.Render(d, d.width, d.height)
	v.SetContent(d.look.frame(lines, d.width, d.height))
	if t.input != nil {
		if x := len(findLabel) + t.input.Cursor().X; x < d.width {
			v.Cursor = tea.NewCursor(x, d.height-1)
		}
	}
}

// Render is height lines: the hits, more of the chosen one, and what can be done.
func (t *trove) Render(d *desk, width, height int) []string {
	more := 0
	if height >= 10 {
		more = glimpseRows + 1
	}
	t.rows = max(0, height-2-more)
	out := []string{d.look.rule(t.title(d.look), width)}[:max(0, min(1, height-1))]
	first := max(0, min(t.at-t.rows/2, len(t.hits)-t.rows))
	for i := first; i < min(len(t.hits), first+t.rows); i++ {
		out = append(out, t.row(d, &t.hits[i], width, i == t.at))
	}
	if t.err != "" {
		for _, line := range wrap(transcript.Clean(t.err), width-2) {
			out = append(out, d.look.bad.Render(" "+line))
		}
	}
	room := height - 1 - more
	for len(out) < room {
		out = append(out, "")
	}
	out = out[:max(0, min(len(out), room))]
	if more > 0 {
		out = append(out, t.glimpse(d, width)...)
	}
	return append(out, t.foot(d, width))
}

// row is a hit on a line: its session, when, what it is, and the words.
func (t *trove) row(d *desk, h *protocol.Hit, width int, chosen bool) string {
	l := d.look
	name := pad(d.called(h.Session), max(min(width/5, 24), 10))
	about := pad(hitNames[h.Kind], len("approval")) + " "
	if width >= wordy {
		about = l.date(h.Time) + " " + about
	}
	words := oneLine(transcript.Clean(strings.TrimSpace(h.Snippet)))
	if chosen {
		return l.chosen.Render(spread("▸"+name+" "+about+words, "", width))
	}
	head := " " + l.bold.Render(name) + " " + l.dim.Render(about)
	return head + l.highlight(fit(words, max(1, width-ansi.StringWidth(head))), t.query)
}

// called is what a person calls a session that a hit is in.
func (d *desk) called(session string) string {
	if s, ok := d.list.Get(session); ok {
		return callOf(&s)
	}
	return short(session)
}

// glimpse is more of the chosen hit than its row has room for.
func (t *trove) glimpse(d *desk, width int) []string {
	out := []string{d.look.rule("", width)}
	if len(t.hits) > 0 {
		lines := wrap(transcript.Clean(strings.TrimSpace(t.hits[t.at].Snippet)), width-2)
		for _, line := range lines[:min(len(lines), glimpseRows)] {
			out = append(out, " "+d.look.highlight(line, t.query))
		}
	}
	for len(out) < glimpseRows+1 {
		out = append(out, "")
	}
	return out
}

// foot is the line where the words are written, or what can be done.
func (t *trove) foot(d *desk, width int) string {
	l := d.look
	switch {
	case t.input != nil:
		t.input.SetWidth(max(1, width-len(findLabel)-1))
		return fit(l.key.Render(findLabel)+t.input.View(), width)
	case d.leaving || d.word != "" || d.link.State == remote.Reconnecting || d.link.State == remote.Offline:
		return d.foot()
	}
	return l.dim.Render(spread(" "+l.keys.Hint(keymap.Choose, "opens it there", keymap.NewSearch, "other words", keymap.Back, "back"), l.keys.Hint(keymap.Help, "help"), width))
}
