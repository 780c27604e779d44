package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/format"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
)

// Menu is an overlay with a list of entries. It calls Listing.Entries for every message and
// drawing, so it shows changes at once.
type Menu struct {
	styles    *Styles
	listing   Listing
	status    func() string // returns the screen's status message
	selected  string        // id of the selected entry
	lastIndex int           // its last index, used when the entry is gone
}

// Listing is the content of a menu.
type Listing interface {
	Title() string
	Empty() string // text shown without entries
	Hint() string
	Entries() []Entry
	// Act handles a key that the menu does not use. id is the selected entry.
	Act(id, key string) Response
}

// Entry is an entry of a menu. Text and Details are wrapped, not cut.
type Entry struct {
	ID      string
	Text    string
	Details string
}

// NewMenu returns a menu with the given entry selected, or the first if selected is "".
func NewMenu(s *Styles, listing Listing, selected string, status func() string) *Menu {
	return &Menu{styles: s, listing: listing, selected: selected, status: status}
}

// Scope returns the scope of lists.
func (m *Menu) Scope() keymap.Scope { return keymap.Lists }

// FullScreen returns true.
func (m *Menu) FullScreen() bool { return true }

// Update moves the selection. Other keys go to Listing.Act.
func (m *Menu) Update(msg tea.Msg) Response {
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return Response{}
	}
	key := press.String()
	entries := m.listing.Entries()
	index := m.selectedIndex(entries)
	target := index
	switch m.styles.Keys.At(keymap.Lists, key) {
	case keymap.Back:
		return Response{Close: true}
	case keymap.Up:
		target--
	case keymap.Down:
		target++
	case keymap.First:
		target = 0
	case keymap.Last:
		target = len(entries) - 1
	default:
		if index < 0 {
			return Response{}
		}
		return m.listing.Act(entries[index].ID, key)
	}
	if len(entries) > 0 {
		m.lastIndex = min(max(target, 0), len(entries)-1)
		m.selected = entries[m.lastIndex].ID
	}
	return Response{}
}

// selectedIndex returns the index of the selected entry, or of the entry that took its place. It
// returns -1 if there are no entries.
func (m *Menu) selectedIndex(entries []Entry) int {
	if i := slices.IndexFunc(entries, func(e Entry) bool { return e.ID == m.selected }); i >= 0 {
		m.lastIndex = i
	}
	return min(m.lastIndex, len(entries)-1)
}

// View returns height lines. The last one shows the status message or the keys.
func (m *Menu) View(width, height int) ([]string, *tea.Cursor) {
	entries := m.listing.Entries()
	selected := m.selectedIndex(entries)
	var lines []string
	selectedLine := 0
	for i, e := range entries {
		mark, style := "   ", m.styles.Plain
		if i == selected {
			selectedLine, mark, style = len(lines), " ▸ ", m.styles.Selected
		}
		for n, line := range Wrap(e.Text, width-Indent) {
			if n > 0 {
				mark = "   "
			}
			lines = append(lines, style.Render(mark+line))
		}
		if e.Details != "" {
			for _, line := range Wrap(e.Details, width-Indent) {
				lines = append(lines, "   "+m.styles.Dim.Render(line))
			}
		}
	}
	if len(entries) == 0 {
		lines = append(lines, m.styles.Dim.Render(Fit(" "+m.listing.Empty(), width)))
	}
	lines, _ = Window(lines, selectedLine, height-2)
	out := append([]string{m.styles.Rule(m.listing.Title(), width)}, lines...)
	for len(out) < height-1 {
		out = append(out, "")
	}
	out = out[:min(len(out), max(0, height-1))]
	return append(out, m.footer(len(entries) > 0, width)), nil
}

// footer returns the last line. The listing's hint is left out without entries.
func (m *Menu) footer(hasEntries bool, width int) string {
	if status := m.status(); status != "" {
		return m.styles.Warning.Render(Fit(" "+format.JoinLines(transcript.Clean(status)), width))
	}
	hint, back := "", m.styles.Keys.Hint(keymap.Back, "back")
	if hasEntries {
		hint = m.listing.Hint()
	}
	return m.styles.Selected.Render(Spread(" "+FitHints(hint, width-ansi.StringWidth(back)-2), back, width))
}
