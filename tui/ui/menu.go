package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
)

// Menu is an overlay with a list to choose from. It reads the list anew for every drawing, so that it
// shows changes that others make.
type Menu struct {
	styles   *Styles
	listing  Listing
	status   func() string // the status message of the screen
	selected string        // id of an entry
	index    int           // of the selected entry, for when it is gone
}

// Listing is the content of a menu.
type Listing interface {
	Title() string
	Empty() string // shown when there are no entries
	Hint() string
	Entries() []Entry
	// Act handles a key that is not the menu's own, on an entry.
	Act(id, key string) Response
}

// Entry is one choice of a menu. Its text is shown whole, with details below it.
type Entry struct {
	ID      string
	Text    string
	Details string
}

// NewMenu returns a menu with an entry selected; "" selects the first.
func NewMenu(s *Styles, listing Listing, selected string, status func() string) *Menu {
	return &Menu{styles: s, listing: listing, selected: selected, status: status}
}

// Scope returns the keys of lists.
func (m *Menu) Scope() keymap.Scope { return keymap.Lists }

// FullScreen returns true.
func (m *Menu) FullScreen() bool { return true }

// Update moves the selection, or acts on it.
func (m *Menu) Update(msg tea.Msg) Response {
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return Response{}
	}
	key := press.String()
	entries := m.listing.Entries()
	at := m.at(entries)
	to := at
	switch m.styles.Keys.At(keymap.Lists, key) {
	case keymap.Back:
		return Response{Close: true}
	case keymap.Up:
		to--
	case keymap.Down:
		to++
	case keymap.First:
		to = 0
	case keymap.Last:
		to = len(entries) - 1
	default:
		if at < 0 {
			return Response{}
		}
		return m.listing.Act(entries[at].ID, key)
	}
	if len(entries) > 0 {
		m.index = min(max(to, 0), len(entries)-1)
		m.selected = entries[m.index].ID
	}
	return Response{}
}

// at returns the index of the selected entry, or of the one that took its place; -1 when there is none.
func (m *Menu) at(entries []Entry) int {
	if i := slices.IndexFunc(entries, func(e Entry) bool { return e.ID == m.selected }); i >= 0 {
		m.index = i
	}
	return min(m.index, len(entries)-1)
}

// View returns height lines; the last one shows the keys or the status message.
func (m *Menu) View(width, height int) ([]string, *tea.Cursor) {
	entries := m.listing.Entries()
	selected := m.at(entries)
	var lines []string
	at := 0
	for i, e := range entries {
		mark, style := "   ", m.styles.Plain
		if i == selected {
			at, mark, style = len(lines), " ▸ ", m.styles.Selected
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
	lines, _ = Window(lines, at, height-2)
	out := append([]string{m.styles.Rule(m.listing.Title(), width)}, lines...)
	for len(out) < height-1 {
		out = append(out, "")
	}
	out = out[:min(len(out), max(0, height-1))]
	return append(out, m.foot(len(entries) > 0, width)), nil
}

func (m *Menu) foot(entries bool, width int) string {
	if status := m.status(); status != "" {
		return m.styles.Warning.Render(Fit(" "+OneLine(transcript.Clean(status)), width))
	}
	hint, back := "", m.styles.Keys.Hint(keymap.Back, "back")
	if entries {
		hint = m.listing.Hint()
	}
	return m.styles.Selected.Render(Spread(" "+FitHints(hint, width-ansi.StringWidth(back)-2), back, width))
}
