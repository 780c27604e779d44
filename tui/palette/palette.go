package palette

import (
	"slices"
	"strings"

	"agentctl/internal/format"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

const (
	maxRows    = 14  // commands that a palette shows
	nameColumn = 14  // width of the names, in cells
	maxWidth   = 100 // of a row: the key stays beside its text
)

// Palette is a docked overlay: a text field and the commands that match its text. Its intent is the
// chosen [Command].
type Palette struct{ *ui.Picker[Command] }

// New returns a palette of the commands that a function returns. It is called for every drawing.
func New(s *ui.Styles, commands func() []Command) *Palette {
	list := NewList(s, func(text string) []Command { return Rank(commands(), text, true) })
	list.Empty = func(string) string { return "   no command" }
	list.Hint = func() string { return Hint(s) }
	list.Complete = func(c Command) string { return strings.TrimPrefix(c.Name, "/") }
	list.Press = func(key string) (ui.Response, bool) { return pressGlobal(commands(), s.Keys.At(keymap.Global, key)) }
	list.Choose = func(c Command) ui.Response { return ui.Response{Close: true, Intent: c} }
	list.Label, list.Docked = " /", maxRows
	return &Palette{ui.NewPicker(s, list)}
}

// pressGlobal handles the key of the palette, which closes it, and the keys of its commands: the rows
// show the keys, so they act.
func pressGlobal(commands []Command, action keymap.Action) (r ui.Response, handled bool) {
	if action == keymap.OpenPalette {
		return ui.Response{Close: true}, true
	}
	i := slices.IndexFunc(commands, func(c Command) bool { return action != "" && c.Action == action })
	if i < 0 {
		return ui.Response{}, false
	}
	return ui.Response{Close: true, Intent: commands[i]}, true
}

// NewList returns a list of the commands that match a text, each on one line: name, text, key.
func NewList(s *ui.Styles, found func(text string) []Command) ui.List[Command] {
	return ui.List[Command]{
		Title: func(_, rows, _ int) string { return s.Bold.Render(format.Count(rows, "command")) },
		Rows:  found,
		ID:    func(c Command) string { return c.Name },
		Draw:  func(c Command, selected bool, width int) []string { return []string{row(s, &c, selected, width)} },
	}
}

// Hint returns the keys of the list.
func Hint(s *ui.Styles) string {
	return s.Keys.Hint(keymap.Choose, "run", keymap.Complete, "complete", keymap.Back, "close")
}

// row returns the line of a command. The key is left out before the name is cut.
func row(s *ui.Styles, c *Command, selected bool, width int) string {
	all, width := width, min(width, maxWidth)
	about := c.About
	if c.Action == "" {
		about = strings.TrimSpace(c.Hint + " — " + c.About)
		about = strings.Trim(about, "— ")
	}
	name := ui.Pad(c.Name, nameColumn) + " "
	key := ui.Prefixed(" ", c.Key)
	if room := width - 4; transcript.Width(name)+transcript.Width(key) > room {
		key = ""
	}
	room := max(0, width-4-transcript.Width(name)-transcript.Width(key))
	about = ui.Fit(about, room)
	if selected {
		return s.Selected.Render(ui.Pad(ui.Spread(" ▸ "+name+about, key+" ", width), all))
	}
	return ui.Spread("   "+name+s.Dim.Render(about), s.Bold.Render(key)+" ", width)
}
