package tui

import "strings"

// keys lists every key by where it works. The help screen is all of it.
var keys = []struct {
	where string
	keys  [][2]string
}{
	{"Everywhere", [][2]string{
		{"F1, ? in an empty composer", "this help"},
		{"ctrl+c twice", "leave; the session goes on"},
		{"ctrl+x", "interrupt the turn"},
		{"tab, shift+tab", "to approval, queue, transcript, composer"},
		{"pgup pgdn ctrl+home ctrl+end", "scroll the transcript"},
		{"ctrl+o", "unfold or fold the last tool or thought"},
		{"ctrl+r", "take back a message that was not sent"},
		{"ctrl+l, ctrl+z", "draw anew, suspend"},
	}},
	{"Composer", [][2]string{
		{"enter", "send; queued while a turn runs"},
		{"alt+enter, ctrl+j", "new line"},
		{"up, down when empty", "scroll"},
		{"esc", "interrupt the turn, or give up an edit"},
		{"1 … 9 when empty", "decide the approval on the screen"},
	}},
	{"Approval (tab)", [][2]string{
		{"up, down, enter", "choose and decide, answer a question"},
		{"1 … 9", "decide"},
		{"r", "write a reason that goes with the decision"},
		{"v", "view all of it"},
		{"left, right", "another request"},
	}},
	{"Queue (tab)", [][2]string{
		{"e", "edit; the message waits meanwhile"},
		{"x", "remove"},
		{"K, J", "move up, down"},
		{"h, r", "hold, release the queue"},
	}},
	{"Transcript (tab)", [][2]string{
		{"up, down, home, end", "select"},
		{"enter", "unfold or fold"},
		{"v", "view a tool call on a screen of its own"},
	}},
}

// renderHelp is the keys in as many columns of sections as fit.
func renderHelp(l *look, width, height int) []string {
	out := []string{l.rule(l.bold.Render("keys"), width)}
	keyWidth := min(30, max(12, width*2/5))
	for _, section := range keys {
		out = append(out, fit(" "+l.user.Render(section.where), width))
		for _, k := range section.keys {
			name := fit(k[0], keyWidth-2)
			out = append(out, fit("  "+l.key.Render(name)+strings.Repeat(" ", max(1, keyWidth-2-len([]rune(name))))+k[1], width))
		}
	}
	if len(out) > height-1 {
		out = out[:max(0, height-1)]
	}
	for len(out) < height-1 {
		out = append(out, "")
	}
	return append(out, l.dim.Render(fit(" any key closes this", width)))
}
