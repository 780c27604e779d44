package tui

import (
	"slices"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// fields is lines to write, one at a time, as a panel.
type fields struct {
	title   string
	keys    string // what can be done
	list    []field
	at      int
	sending bool // nothing can be changed meanwhile
	err     string

	changed func(d *desk)         // after a key that may have changed the text
	done    func(d *desk) tea.Cmd // with enter
	left    func(d *desk)         // with esc, beside the panel going away
}

// field is one line, and what it can be chosen from.
type field struct {
	label   string
	empty   string // said while nothing is written
	choices []string
	input   textinput.Model
}

func newField(label, text, empty string, choices ...string) field {
	return field{label: label, empty: empty, choices: choices, input: *newWords(text)}
}

func (f *fields) value(i int) string { return f.list[i].input.Value() }

func (f *fields) key(d *desk, key string, msg tea.KeyPressMsg) tea.Cmd {
	in := &f.list[f.at]
	switch {
	case key == "esc":
		d.panel = nil
		if f.left != nil {
			f.left(d)
		}
	case f.sending:
	case key == "enter":
		return f.done(d)
	case key == "tab" || key == "down":
		f.at = (f.at + 1) % len(f.list)
	case key == "shift+tab" || key == "up":
		f.at = (f.at + len(f.list) - 1) % len(f.list)
	case key == "right" && in.turn(1), key == "left" && in.turn(-1):
	default:
		in.input, _ = in.input.Update(msg)
		f.err = ""
		if f.changed != nil {
			f.changed(d)
		}
	}
	return nil
}

// turn writes another of the choices; false when what is written is none of
// them, for then the cursor moves.
func (f *field) turn(by int) bool {
	all := append([]string{""}, f.choices...)
	at := slices.Index(all, f.input.Value())
	if at < 0 || len(f.choices) == 0 {
		return false
	}
	f.input.SetValue(all[(at+by+len(all))%len(all)])
	f.input.CursorEnd()
	return true
}

func (f *fields) paste(d *desk, s string) {
	if f.sending {
		return
	}
	in := &f.list[f.at].input
	*in, _ = in.Update(tea.PasteMsg{Content: oneLine(transcript.Clean(s))})
	if f.changed != nil {
		f.changed(d)
	}
}

func (f *fields) follow(*desk, *protocol.Summary) {}

func (f *fields) hint(*look) string { return f.keys }

func (f *fields) Render(d *desk, width, rows int) ([]string, *tea.Cursor) {
	title := d.look.bold.Render(f.title)
	switch {
	case f.err != "":
		title += " · " + d.look.bad.Render(oneLine(transcript.Clean(f.err)))
	case f.sending:
		title += " · " + d.look.warn.Render("sending …")
	}
	room := 0
	for _, in := range f.list {
		room = max(room, ansi.StringWidth(in.label))
	}
	var lines []string
	for i := range f.list {
		in := &f.list[i]
		label := "   " + pad(in.label, room) + " "
		in.input.SetWidth(max(1, width-ansi.StringWidth(label)-1))
		text := in.input.View()
		if in.input.Value() == "" {
			text = d.look.dim.Render(fit(in.empty, width-ansi.StringWidth(label)))
		}
		if i == f.at {
			label = " ▸ " + label[3:]
		}
		lines = append(lines, fit(d.look.key.Render(label)+text, width))
	}
	lines, at := window(lines, f.at, rows-1)
	out := append([]string{d.look.rule(title, width)}, lines...)
	if len(out) > rows || len(lines) == 0 {
		return out[:max(min(len(out), rows), 0)], nil
	}
	x := 3 + room + 1
	if c := f.list[f.at].input.Cursor(); c != nil {
		x += c.X
	}
	return out, tea.NewCursor(x, at+1)
}
