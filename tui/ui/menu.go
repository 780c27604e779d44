package ui

import "agentctl/tui/keymap"

// Menu is a picker of entries without a text field.
type Menu = Picker[Entry]

// Entry is an entry of a menu. Text and Details are wrapped, not cut.
type Entry struct {
	ID      string
	Text    string
	Details string
}

// NewMenu returns a menu with the first entry selected. It sets ID and Draw of the list.
func NewMenu(s *Styles, list List[Entry]) *Menu {
	list.ID, list.Draw = func(e Entry) string { return e.ID }, s.entryLines
	return NewPicker(s, list)
}

// ChooseHint returns the hint of a menu in which one key chooses an entry.
func (s *Styles) ChooseHint(does string) func() string {
	return func() string { return "↑↓ · " + s.Keys.Hint(keymap.Choose, does) }
}

// Heading returns a title that does not depend on the rows of a list.
func (s *Styles) Heading(title string) func(at, rows, width int) string {
	return func(int, int, int) string { return s.Bold.Render(title) }
}

// Radio returns the text of an entry of which one is set.
func Radio(set bool, text string) string {
	if set {
		return "(•) " + text
	}
	return "( ) " + text
}

// entryLines draws an entry of a menu.
func (s *Styles) entryLines(e Entry, selected bool, width int) (out []string) {
	mark, style := "   ", s.Plain
	if selected {
		mark, style = " ▸ ", s.Selected
	}
	for _, line := range Wrap(e.Text, width-Indent) {
		out = append(out, style.Render(mark+line))
		mark = "   "
	}
	if e.Details != "" {
		for _, line := range Wrap(e.Details, width-Indent) {
			out = append(out, "   "+s.Dim.Render(line))
		}
	}
	return out
}
