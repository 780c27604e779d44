package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/split"
	"agentctl/tui/ui"
)

// panes divides the screen between the sessions side by side. It decides which of them has the
// focus and gets the mouse. While the dashboard is on the screen they wait for it to close.
type panes struct {
	styles        *ui.Styles
	several       bool // the program has a dashboard
	layout        split.Layout
	screen        split.Arrangement // of the layout, when it was shown last
	width, height int
	covered       bool          // the dashboard is on the screen
	dragged       *split.Border // border that the mouse moves; nil: none
	frame         paneFrame
	store         saver // of the layout
	prefixed      bool  // the key before was [keymap.PanePrefix]
}

// Cells by which a key resizes a pane.
const (
	widthStep  = 4
	heightStep = 2
)

// PaneOptions configure the sessions side by side.
type PaneOptions struct {
	Layout split.Layout // that the user left; RunDashboard without a session shows it
	Hidden bool         // the user left the dashboard: esc shows the layout

	// Save keeps the layout for the next start. It is called after changes, outside of the event
	// loop, and when the program ends. A layout without sessions removes the stored one. It may be
	// nil.
	Save func(l split.Layout, hidden bool) error
}

// Intents of the panes.
type (
	// showIntent puts the sessions of the layout, which has changed, on the screen.
	showIntent struct{}

	// chooseIntent asks the user for the session of a split.
	chooseIntent struct{ action keymap.Action }

	// sendIntent sends a message to all sessions on the screen.
	sendIntent struct{ text string }

	// statusIntent shows a status message.
	statusIntent struct{ text string }
)

// paneMsg is a mouse event for the session of a pane, in the coordinates of the pane.
type paneMsg struct {
	session string
	msg     tea.Msg
}

// savedLayout is what is kept of the layout for the next start.
type savedLayout struct {
	layout split.Layout // of several sessions, or empty
	hidden bool         // the dashboard covers it
}

// restore takes the layout that the user left.
func (s *panes) restore(o *PaneOptions) {
	if o.Layout.Len() > 1 {
		s.layout, s.store.saved = o.Layout, savedLayout{o.Layout, o.Hidden}
	}
}

// resize sets the size of the screen. It ends a drag.
func (s *panes) resize(msg tea.WindowSizeMsg) {
	s.width, s.height = max(msg.Width, 1), max(msg.Height, 1)
	s.dragged = nil
}

// filter handles the input that is not for a session: the keys that leave it or act on the panes,
// and the mouse between the panes. It returns nil in its place, and an intent, which may be nil.
// Other input is for the session with the focus or, as a paneMsg, for the one below the mouse.
func (s *panes) filter(msg tea.Msg) (tea.Msg, ui.Intent) {
	if press, ok := msg.(tea.KeyPressMsg); ok && s.several {
		if intent, handled := s.pressPrefix(press.String()); handled {
			return nil, intent
		}
	}
	if s.covered {
		return msg, nil
	}
	switch m := msg.(type) {
	case tea.MouseMsg:
		return s.filterMouse(m)
	case tea.KeyPressMsg:
		if !s.several {
			break
		}
		key := m.String()
		if action := s.styles.Keys.At(keymap.Global, key); leavesSession(action) {
			return nil, ui.ActionIntent{Action: action}
		}
	}
	return msg, nil
}

// pressPrefix handles the key of [keymap.PanePrefix] and the key after it. Any other key ends it.
func (s *panes) pressPrefix(key string) (intent ui.Intent, handled bool) {
	keys := s.styles.Keys
	if !s.prefixed {
		s.prefixed = keys.At(keymap.Global, key) == keymap.PanePrefix
		if s.prefixed {
			intent = statusIntent{keys.After(keymap.SplitRight, "right", keymap.SplitBelow, "below", keymap.NextPane,
				"next", keymap.ZoomPane, "zoom", keymap.LargerPane, "larger", keymap.ClosePane, "close")}
		}
		return intent, s.prefixed
	}
	s.prefixed = false
	action := keys.At(keymap.Panes, key)
	switch {
	case action == "":
		return statusIntent{"no such key after " + keys.Key(keymap.PanePrefix)}, true
	case s.covered && !action.Splits():
		return statusIntent{"open a session first"}, true
	}
	return ui.ActionIntent{Action: action}, true
}

// leavesSession reports whether an action shows another screen.
func leavesSession(a keymap.Action) bool {
	return a == keymap.ShowSessions || a == keymap.NextPending || a == keymap.JumpSession
}

// filterMouse moves a mouse event into the coordinates of the pane below it. A click on another
// session gives it the focus and does nothing else. The mouse drags borders.
func (s *panes) filterMouse(msg tea.MouseMsg) (tea.Msg, ui.Intent) {
	m := msg.Mouse()
	click, clicked := msg.(tea.MouseClickMsg)
	if s.dragged != nil {
		switch msg.(type) {
		case tea.MouseMotionMsg:
			s.layout, *s.dragged = s.layout.Drag(*s.dragged, m.X, m.Y)
			return nil, showIntent{}
		case tea.MouseReleaseMsg:
			s.dragged = nil
			return nil, nil
		}
		s.dragged = nil // the terminal sent no release
	}
	if clicked && click.Button == tea.MouseLeft {
		if b := s.screen.BorderAt(m.X, m.Y); b != nil {
			border := *b
			s.dragged = &border
		}
	}
	pane := s.screen.At(m.X, m.Y)
	switch {
	case pane == nil:
		return nil, nil
	case clicked && pane.Session != s.layout.Focus():
		s.layout = s.layout.Open(pane.Session)
		return nil, showIntent{}
	case !pane.Content.Contains(m.X, m.Y):
		return nil, nil
	}
	return paneMsg{pane.Session, moveMouse(msg, -pane.Content.X, -pane.Content.Y)}, nil
}

// beside reports whether a cell is in a session without the focus.
func (s *panes) beside(x, y int) bool {
	pane := s.screen.At(x, y)
	return !s.covered && pane != nil && pane.Session != s.layout.Focus()
}

// arrange divides the screen. A deleted session that has no place on it leaves the layout. It
// returns the sessions on the screen, the one with the focus first.
func (s *panes) arrange(deleted func(session string) bool) []string {
	s.screen = s.layout.Arrange(s.width, s.height)
	s.layout = s.layout.Keep(func(id string) bool {
		return !deleted(id) || slices.ContainsFunc(s.screen.Panes, func(p split.Pane) bool { return p.Session == id })
	})
	s.screen = s.layout.Arrange(s.width, s.height)
	s.covered = false
	shown := []string{s.layout.Focus()}
	for _, pane := range s.screen.Panes {
		if pane.Session != shown[0] {
			shown = append(shown, pane.Session)
		}
	}
	return shown
}

// cover handles that the dashboard is on the screen.
func (s *panes) cover() { s.covered, s.dragged = true, nil }

// act carries out an action on the sessions side by side. text belongs to its command.
func (s *panes) act(action keymap.Action, text string) ui.Intent {
	l, width, height := s.layout, s.width, s.height
	switch {
	case s.covered:
		return nil
	case action.Splits():
		if reason := s.refuse(action); reason != "" {
			return statusIntent{reason}
		}
		return chooseIntent{action}
	case l.Len() < 2:
		hint := s.styles.Keys.Hint(keymap.SplitRight, "shows another beside it")
		return statusIntent{"there is one session" + ui.Prefixed(keymap.Separator, hint)}
	}
	switch action {
	case keymap.SendPanes:
		if text == "" {
			return statusIntent{"write the message after /all"}
		}
		return sendIntent{text}
	case keymap.PaneLeft:
		l = l.Move(split.Left, width, height)
	case keymap.PaneRight:
		l = l.Move(split.Right, width, height)
	case keymap.PaneUp:
		l = l.Move(split.Up, width, height)
	case keymap.PaneDown:
		l = l.Move(split.Down, width, height)
	case keymap.NextPane:
		l = l.Next()
	case keymap.ZoomPane:
		l = l.ToggleZoom()
	case keymap.LargerPane:
		l = l.Grow(false, widthStep, width, height).Grow(true, heightStep, width, height)
	case keymap.SmallerPane:
		l = l.Grow(false, -widthStep, width, height).Grow(true, -heightStep, width, height)
	case keymap.ClosePane:
		l = l.Remove(l.Focus())
	}
	s.layout = l
	return showIntent{}
}

// refuse returns why no further session can be shown, or "".
func (s *panes) refuse(action keymap.Action) string {
	const other = "\x00" // is no session
	switch l := s.layout; {
	case l.Len() == split.MaxPanes:
		return fmt.Sprintf("at most %d sessions are side by side", split.MaxPanes)
	case l.Len() > 0 && !l.Split(other, action == keymap.SplitBelow).Arrange(s.width, s.height).Fits:
		return fmt.Sprintf("no room: each session needs %d×%d cells", split.MinWidth, split.MinHeight)
	}
	return ""
}

// split adds a session beside the one with the focus. It returns why it cannot, or "".
func (s *panes) split(session string, action keymap.Action) string {
	if reason := s.refuse(action); reason != "" && !s.layout.Has(session) {
		return reason
	}
	s.layout = s.layout.Split(session, action == keymap.SplitBelow)
	return ""
}

// compared returns the session with the focus and the one after it, in the order of the layout, and zooms
// so that their comparison has the screen.
func (s *panes) compared() (left, right string) {
	all := s.layout.Sessions()
	at := slices.Index(all, s.layout.Focus())
	other := (at + 1) % len(all)
	s.zoom(true)
	return all[min(at, other)], all[max(at, other)]
}

// zoom sets whether the session with the focus covers the others.
func (s *panes) zoom(zoomed bool) {
	if s.layout.Zoomed() != zoomed {
		s.layout = s.layout.ToggleZoom()
	}
}

// toSave returns the present layout. A layout of one session is not kept.
func (s *panes) toSave() savedLayout {
	if s.layout.Len() < 2 {
		return savedLayout{}
	}
	return savedLayout{s.layout, s.covered}
}

// remove removes sessions from the layout.
func (s *panes) remove(sessions ...string) {
	for _, id := range sessions {
		s.layout = s.layout.Remove(id)
	}
}
