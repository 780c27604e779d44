package ui

// Menu is a picker of entries without a text field.
type Menu = Picker[Entry]

// Listing is the content of a menu.
type Listing interface {
	Title() string
	Empty() string // text shown without entries
	Hint() string
	Entries() []Entry
	// Act handles the key that chooses an entry, and keys that do nothing in lists. id is the selected
	// entry.
	Act(id, key string) Response
}

// Entry is an entry of a menu. Text and Details are wrapped, not cut.
type Entry struct {
	ID      string
	Text    string
	Details string
}

// NewMenu returns a menu with the given entry selected, or the first if selected is "". status
// returns the screen's status message.
func NewMenu(s *Styles, listing Listing, selected string, status func() string) *Menu {
	m := NewPicker(s, List[Entry]{
		Title:  func(int, int, int) string { return listing.Title() },
		Rows:   func(string) []Entry { return listing.Entries() },
		ID:     func(e Entry) string { return e.ID },
		Draw:   s.entryLines,
		Empty:  func(string) string { return " " + listing.Empty() },
		Hint:   listing.Hint,
		Status: status,
	})
	m.Press = func(key string) (Response, bool) {
		e, ok := m.Selected()
		if !ok {
			return Response{}, false
		}
		return listing.Act(e.ID, key), true
	}
	if selected != "" {
		m.Select(selected)
	}
	return m
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
