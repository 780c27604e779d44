package sessionview

import (
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// findDelay is the time without a key after which the typed text is searched.
const findDelay = 150 * time.Millisecond

// searchInput is a docked overlay for the text of a search. It searches while the user types.
type searchInput struct {
	pane  *transcriptPane
	input *ui.TextInput

	// The place to return to.
	following bool
	top       transcript.ID
}

// searchIntent is an outcome of a searchInput.
type searchIntent struct {
	input  *searchInput
	typing bool // the text has changed; otherwise the user has finished
	cancel bool
}

// findMsg searches the typed text, unless the generation is no longer current.
type findMsg struct {
	generation int
	text       string
}

// openSearch returns the input for a new search. It contains the text of the last one.
func (p *transcriptPane) openSearch() ui.Overlay {
	p.search.stop()
	p.typing = true
	list := p.view.List
	return &searchInput{p, p.styles.NewTextInput(p.search.text), list.Following(), list.TopItem()}
}

// Scope implements [ui.Overlay].
func (i *searchInput) Scope() keymap.Scope { return keymap.Global }

// FullScreen implements [ui.Overlay].
func (i *searchInput) FullScreen() bool { return false }

// Update implements [ui.Overlay].
func (i *searchInput) Update(msg tea.Msg) ui.Response {
	before := i.input.Value()
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		switch i.pane.styles.FieldAction(msg) {
		case keymap.Back:
			return ui.Response{Close: true, Intent: searchIntent{input: i, cancel: true}}
		case keymap.Choose:
			return ui.Response{Close: true, Intent: searchIntent{input: i}}
		}
		if r, ok := i.input.Edit(msg, nil); ok {
			return r
		}
		i.input.Press(msg)
	case tea.PasteMsg:
		i.input.Paste(msg.Content)
	case tea.MouseMsg:
		return ui.Response{Pass: true}
	}
	if i.input.Value() == before {
		return ui.Response{}
	}
	return ui.Response{Intent: searchIntent{input: i, typing: true}}
}

// View implements [ui.Overlay].
func (i *searchInput) View(width, _ int) ([]string, *tea.Cursor) {
	styles, result := i.pane.styles, i.pane.search.resultText()
	room := width
	if result != "" {
		result += " "
		room -= ansi.StringWidth(result) + 1
	}
	line := styles.InputLine(ui.FindLabel, i.input, room)
	cursor := ui.InputCursor(ui.FindLabel, i.input, 0)
	if result == "" {
		return []string{line}, cursor
	}
	return []string{ui.Spread(line, styles.Dim.Render(result), width)}, cursor
}

// resultText returns the number of the match shown and of all, or the state of the search.
func (s *search) resultText() string {
	switch {
	case s.query == nil:
		return ""
	case len(s.hits) > 0 || s.local != nil && s.match.valid:
		return s.positionText()
	case s.running:
		return "…"
	}
	return "no match"
}

// handleSearch carries out an intent of the input of a search.
func (v *View) handleSearch(i searchIntent) tea.Cmd {
	p, text := &v.transcript, i.input.input.Value()
	p.typing = i.typing
	switch {
	case i.cancel:
		p.endSearch()
		i.input.restore(v.focus == onTranscript)
		return nil
	case i.typing:
		p.search.stop()
		return v.After(findDelay, findMsg{p.search.generation, text})
	case p.search.query != nil && p.search.query.String() == text && (p.search.running || p.search.found()):
		p.search.expanded = nil
		v.setFocus(onTranscript)
		return nil
	}
	return v.search(text)
}

// found reports whether there is a match.
func (s *search) found() bool { return len(s.hits) > 0 || s.match.valid }

// restore returns to the place before the search.
func (i *searchInput) restore(selecting bool) {
	list := i.pane.view.List
	switch {
	case i.following:
		list.ScrollToBottom()
	case i.top >= list.First() && i.top <= list.Last():
		list.ScrollToItem(i.top)
	}
	if !selecting {
		list.ClearSelection()
	}
}

// findTyped searches the text that the user is typing.
func (v *View) findTyped(msg findMsg) tea.Cmd {
	p := &v.transcript
	if msg.generation != p.search.generation {
		return nil
	}
	cmd, ok := p.beginSearch(msg.text)
	if !ok {
		v.canvas.Dirty = true // without words nothing is highlighted
	}
	return cmd
}
