package pane

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// findDelay is the time without a key after which the typed text is searched.
const findDelay = 150 * time.Millisecond

// searchInput is a docked overlay for the text of a search. It searches while the user types.
type searchInput struct {
	search *search
	input  *ui.TextInput

	// The place to return to.
	following bool
	top       transcript.ID
}

// open returns the input for a new search. It contains the text of the last one.
func (s *search) open() ui.Overlay {
	s.stop()
	s.typing = true
	top, _ := s.view.List.TopLine()
	input := s.Styles.NewTextInput(s.text)
	input.Changed = func() { // it searches after the user has stopped typing
		s.stop()
		s.typing, s.typed, s.due = true, input.Value(), s.Now().Add(findDelay)
	}
	return &searchInput{s, input, s.view.List.Following(), top}
}

// Scope implements [ui.Overlay].
func (i *searchInput) Scope() keymap.Scope { return keymap.Global }

// FullScreen implements [ui.Overlay].
func (i *searchInput) FullScreen() bool { return false }

// Update implements [ui.Overlay].
func (i *searchInput) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		switch i.search.Styles.FieldAction(msg) {
		case keymap.Back:
			i.cancel()
			return ui.Response{Close: true}
		case keymap.Choose:
			return ui.Response{Close: true, Intent: i.search.finish(i.input.Value())}
		}
		return i.input.Press(msg)
	case tea.PasteMsg:
		i.input.Paste(msg.Content)
	case tea.MouseMsg:
		return ui.Response{Pass: true}
	}
	return ui.Response{}
}

// View implements [ui.Overlay].
func (i *searchInput) View(width, _ int) ([]string, *tea.Cursor) {
	styles, result := i.search.Styles, i.search.resultText()
	room := width
	if result != "" {
		result += " "
		room -= transcript.Width(result) + 1
	}
	line := styles.InputLine(ui.FindLabel, i.input, room)
	cursor := ui.InputCursor(ui.FindLabel, i.input, 0)
	if result == "" {
		return []string{line}, cursor
	}
	return []string{ui.Spread(line, result, width)}, cursor
}

// resultText returns the number of the match shown and of all, or the state of the search.
func (r *results) resultText() string {
	switch {
	case r.query == nil:
		return ""
	case len(r.hits) > 0 || r.local != nil && r.match.valid:
		return r.positionText()
	case r.running:
		return "…"
	}
	return "no match"
}

// finish ends the input. It searches the text unless it was searched while it was typed.
func (s *search) finish(text string) panel.Result {
	s.typing = false
	if s.query != nil && s.query.String() == text && (s.running || len(s.hits) > 0 || s.match.valid) {
		s.expanded = nil
		return panel.Result{Focus: true}
	}
	cmd, ok := s.begin(text)
	return panel.Result{Cmd: cmd, Focus: ok}
}

// cancel closes the search and returns to the place before it.
func (i *searchInput) cancel() {
	list := i.search.view.List
	i.search.typing = false
	i.search.end()
	switch {
	case i.following:
		list.ScrollToBottom()
	case i.top >= list.First() && i.top <= list.Last():
		list.SetTopLine(i.top, 0)
	}
	if !i.search.focused {
		list.ClearSelection()
	}
}
