package ui

import tea "charm.land/bubbletea/v2"

// NewThemeMenu returns a menu that switches to a theme with a [ThemeMsg].
func NewThemeMenu(s *Styles) *Menu {
	m := NewMenu(s, List[Entry]{
		Title: s.Heading("theme"), Hint: s.ChooseHint("set"),
		Rows: func(string) (out []Entry) {
			for _, theme := range Themes() {
				out = append(out, Entry{ID: string(theme), Text: Radio(theme == s.Theme(), string(theme))})
			}
			return out
		},
		Choose: func(e Entry) Response {
			return Response{Close: true, Cmd: func() tea.Msg { return ThemeMsg{Theme(e.ID)} }}
		},
	})
	m.Select(string(s.Theme()))
	return m
}
