package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
)

// Intent is what a part asks of its owner, which knows the types. nil asks nothing.
type Intent = any

// ActionIntent asks the program for an action that leaves the screen.
type ActionIntent struct{ Action keymap.Action }

// TickMsg redraws the clocks of a screen. See Screen.Tick.
type TickMsg struct{}

// Screen has what is common to all screens: a stack of overlays, the keys that work anywhere, the
// confirmation of leaving, the status message, a clock and a canvas. It does not know what the
// screen shows. Its owner passes every message to Update, and what it does not handle to Route.
type Screen struct {
	ScreenConfig
	Overlays Stack
	Status   Status
	Canvas   Canvas
	leave    Leave
	ticking  bool // a TickMsg is pending
}

// ScreenConfig has what a Screen needs of its owner. Functions without a comment on nil are
// required.
type ScreenConfig struct {
	Styles    *Styles
	Now       func() time.Time
	After     func(time.Duration, tea.Msg) tea.Cmd // sends a message to the screen after a delay
	LeaveText string                               // the last line after the first ctrl+c

	// Clear handles a ctrl+c that leaves nothing because it clears what is being written. It reports
	// whether it did. nil: ctrl+c always leaves.
	Clear func() (cmd tea.Cmd, cleared bool)

	// Pressed is called before any other key is handled. nil: nothing to do.
	Pressed func()

	// Palette returns the palette. It returns nil if top, which may be nil, is one.
	Palette func(top Overlay) Overlay

	// Anywhere carries out an action of the global scope that works in every overlay and text field,
	// other than the palette and the help of overlays. It reports whether the action is one. nil: there
	// are no others.
	Anywhere func(action keymap.Action, top Overlay) bool

	// Handle carries out an intent of an overlay. It returns an intent that is for the program.
	Handle func(Intent) (tea.Cmd, Intent)

	// Input handles a key, a paste or a mouse event that no overlay handles.
	Input func(tea.Msg) (tea.Cmd, Intent)
}

// NewScreen returns a screen without overlays.
func NewScreen(c ScreenConfig) *Screen { return &Screen{ScreenConfig: c, Canvas: NewCanvas()} }

// Update handles the size of the screen and the ends of its timers. Further parts of the screen may
// handle these messages too.
func (s *Screen) Update(msg tea.Msg) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.Canvas.Resize(msg)
	case TickMsg:
		s.ticking = false
		s.Canvas.Dirty = true
	case LeaveTimeoutMsg:
		msg.Expire()
		s.Canvas.Dirty = true
	case StatusTimeoutMsg:
		msg.Wake()
	}
}

// Route passes a message to the overlays, then input that they do not handle to the screen. It
// returns the intent for the program.
func (s *Screen) Route(msg tea.Msg) (tea.Cmd, Intent) {
	s.Canvas.Dirty = s.Canvas.Dirty || IsInput(msg) || s.Overlays.Top() != nil
	if press, ok := msg.(tea.KeyPressMsg); ok {
		if press.String() == "ctrl+c" {
			return s.pressCtrlC(), nil
		}
		s.leave.Cancel()
		s.Status.Clear()
		if s.Pressed != nil {
			s.Pressed()
		}
		if s.pressAnywhere(press.String()) {
			return nil, nil
		}
	}
	cmd, intents, pass := s.Overlays.Update(msg)
	var intent Intent
	for _, i := range intents {
		more, asked := s.Handle(i)
		cmd = tea.Batch(cmd, more)
		if asked != nil {
			intent = asked
		}
	}
	if pass && len(intents) == 0 && IsInput(msg) {
		var more tea.Cmd
		more, intent = s.Input(msg)
		cmd = tea.Batch(cmd, more)
	}
	return cmd, intent
}

// pressCtrlC interrupts what runs in the overlay on top, or clears what is being written. Otherwise
// the second press ends the program.
func (s *Screen) pressCtrlC() tea.Cmd {
	if o, ok := s.Overlays.Top().(interface{ Interrupt() bool }); ok && o.Interrupt() {
		return nil
	}
	if s.Clear != nil {
		if cmd, cleared := s.Clear(); cleared {
			s.leave.Cancel()
			return cmd
		}
	}
	return s.leave.Press(s.After)
}

// pressAnywhere handles the keys that work in every overlay and every text field: those that open
// the palette and the help, and those of the owner.
func (s *Screen) pressAnywhere(key string) bool {
	action, top := s.Styles.Keys.At(keymap.Global, key), s.Overlays.Top()
	switch {
	case action == keymap.OpenPalette:
		palette := s.Palette(top)
		if palette == nil {
			return false // the one on top closes
		}
		s.Overlays.Push(palette)
		return true
	case action == keymap.Help && top != nil:
		if _, isPager := top.(*Pager); isPager {
			return false // it closes
		}
		s.Overlays.Push(NewHelp(s.Styles, top.Scope()))
		return true
	}
	return s.Anywhere != nil && s.Anywhere(action, top)
}

// Tick starts a timer for the next second if the screen shows a clock and none is running.
func (s *Screen) Tick(clock bool) tea.Cmd {
	if s.ticking || !clock {
		return nil
	}
	s.ticking = true
	return s.After(time.Second, TickMsg{})
}

// Expire removes expired status messages and returns the timers of others. A message that is kept
// stays.
func (s *Screen) Expire(keep bool) tea.Cmd {
	var cmd tea.Cmd
	var expired bool
	if !keep {
		cmd, expired = s.Status.Expire(s.Now(), s.After)
		s.Canvas.Dirty = s.Canvas.Dirty || expired
	}
	overlayCmd, expired := s.Overlays.Expire(s.Now(), s.After)
	s.Canvas.Dirty = s.Canvas.Dirty || expired
	return tea.Batch(cmd, overlayCmd)
}

// CancelLeave forgets a first ctrl+c.
func (s *Screen) CancelLeave() { s.leave.Cancel() }

// LeaveLine returns the line after the first ctrl+c, or "".
func (s *Screen) LeaveLine(width int) string {
	if !s.leave.Pending {
		return ""
	}
	return s.Styles.Warning.Render(Fit(s.LeaveText, width))
}

// View returns the screen, drawn again only after a change: the overlay on top if it covers the
// screen, else the lines and the cursor that layout returns.
func (s *Screen) View(title func() string, layout func(width, height int) ([]string, *tea.Cursor)) tea.View {
	return s.Canvas.View(func() tea.View {
		width, height := s.Canvas.Width, s.Canvas.Height
		v := tea.NewView("")
		v.AltScreen, v.ReportFocus, v.WindowTitle = true, true, title()
		if s.Overlays.Show(&v, s.Styles, s.LeaveLine(width), width, height) {
			return v
		}
		lines, cursor := layout(width, height)
		v.SetContent(s.Styles.Frame(lines, width, height))
		if cursor != nil && cursor.X < width && cursor.Y < height {
			v.Cursor = cursor
		}
		return v
	})
}
