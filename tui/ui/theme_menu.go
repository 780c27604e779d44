package ui

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
)

// themeMenu is the menu of the themes.
type themeMenu struct{ styles *Styles }

// NewThemeMenu returns a menu that switches to a theme with a [ThemeMsg].
func NewThemeMenu(s *Styles) *Menu {
	return NewMenu(s, themeMenu{s}, string(s.Theme()), func() string { return "" })
}

// Title implements [Listing].
func (m themeMenu) Title() string { return m.styles.Bold.Render("theme") }

// Empty implements [Listing].
func (m themeMenu) Empty() string { return "" }

// Hint implements [Listing].
func (m themeMenu) Hint() string { return "↑↓ · " + m.styles.Keys.Hint(keymap.Choose, "set") }

// Entries implements [Listing].
func (m themeMenu) Entries() []Entry {
	var out []Entry
	for _, theme := range Themes() {
		mark := "( ) "
		if theme == m.styles.Theme() {
			mark = "(•) "
		}
		out = append(out, Entry{ID: string(theme), Text: mark + string(theme)})
	}
	return out
}

// Act implements [Listing].
func (m themeMenu) Act(id, key string) Response {
	if m.styles.Keys.At(keymap.Lists, key) != keymap.Choose {
		return Response{}
	}
	return Response{Close: true, Cmd: func() tea.Msg { return ThemeMsg{Theme(id)} }}
}
