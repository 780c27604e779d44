package ui

import (
	"cmp"
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
)

// Intent is what a part asks of its owner, which knows the types. nil asks nothing.
type Intent = any

// ActionIntent asks the program for an action that leaves the screen, with the text of its command.
type ActionIntent struct {
	Action keymap.Action
	Text   string
}

// Screen has what is common to all screens: a stack of overlays, the keys that work anywhere, the
// confirmation of leaving, the status message, a clock, a timer and a canvas. It does not know what
// the screen shows. Its owner passes every message to Update, and what it does not handle to Route.
// After each message it runs the command of Wait.
type Screen struct {
	ScreenConfig
	Overlays Stack
	Status   Status
	Canvas   Canvas
	leave    leave
	clock    clock
	timer    Timer
}

// ScreenConfig has what a Screen needs of its owner. Functions without a comment on nil are
// required.
type ScreenConfig struct {
	Styles    *Styles
	Now       func() time.Time
	After     func(time.Duration, tea.Msg) tea.Cmd // sends a message to the screen after a delay
	Exec      func(tea.ExecCommand, tea.ExecCallback) tea.Cmd
	Tasks     Tasks
	Editor    string // command line of the user's editor
	Clipboard Clipboard
	LeaveText string // the last line after the first ctrl+c

	// Clock reports whether the screen shows a time that changes each second.
	Clock func() bool

	// Ages reports whether the screen shows a time that changes each minute. nil: never.
	Ages func() bool

	// Tick is called when such a time changes. nil: nothing to do.
	Tick func()

	// Parts are the parts of the screen with deadlines, other than overlays.
	Parts []Timed

	// KeepStatus reports whether the status message does not expire for now. nil: it always does.
	KeepStatus func() bool

	// Clear handles a ctrl+c that leaves nothing because it clears what is being written. It reports
	// whether it did. nil: ctrl+c always leaves.
	Clear func() (cmd tea.Cmd, cleared bool)

	// Pressed is called before a key is handled. nil: nothing to do.
	Pressed func()

	// Palette returns the palette. It returns nil if top, which may be nil, is one.
	Palette func(top Overlay) Overlay

	// Anywhere carries out an action of the global scope that works in every overlay and text field,
	// other than the palette and the help of overlays. It reports whether the action is one. nil: there
	// are no others.
	Anywhere func(action keymap.Action, top Overlay) (cmd tea.Cmd, handled bool)

	// Handle carries out an intent of an overlay other than EditIntent and CopyIntent. It returns an
	// intent that is for the program.
	Handle func(Intent) (tea.Cmd, Intent)

	// Input handles a key, a paste or a mouse event that no overlay handles.
	Input func(tea.Msg) (tea.Cmd, Intent)
}

// Tasks are the tasks of a screen. A *task.Runner implements it.
type Tasks interface {
	Context() context.Context // ends with the screen
	Wrap(tea.Msg) tea.Msg     // addresses a message to the screen
}

// NewScreen returns a screen without overlays.
func NewScreen(c ScreenConfig) *Screen {
	return &Screen{
		ScreenConfig: c, Status: Status{now: c.Now, keep: c.KeepStatus},
		Canvas: Canvas{Width: 80, Height: 24, Dirty: true}, // until the terminal reports its size
		clock:  clock{now: c.Now, runs: c.Clock, slow: c.Ages, tick: c.Tick},
	}
}

// Update handles the size of the screen and the end of its timer. Further parts of the screen may
// handle these messages too.
func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.Canvas.Resize(msg)
	case TimerMsg:
		cmd, changed := s.timer.Fire(msg, s.Now(), s.timed())
		s.Canvas.Dirty = s.Canvas.Dirty || changed
		return cmd
	case EditedMsg:
		s.Canvas.Dirty = true
		if msg.intent.Returned != nil {
			msg.intent.Returned()
		}
		if msg.err != nil {
			s.Status.Text = msg.err.Error()
			return nil
		}
		msg.intent.Done(msg.text)
	}
	return nil
}

// Edit opens a text in the user's editor.
func (s *Screen) Edit(i EditIntent) tea.Cmd {
	e := &Editor{
		Context: s.Tasks.Context(), Command: s.Editor, Extension: cmp.Or(i.Extension, "txt"), Text: i.Text,
	}
	return s.Exec(e, func(err error) tea.Msg { return s.Tasks.Wrap(EditedMsg{i, e.Text, err}) })
}

// handle carries out an intent of an overlay. It returns an intent that is for the program.
func (s *Screen) handle(intent Intent) (tea.Cmd, Intent) {
	switch i := intent.(type) {
	case EditIntent:
		return s.Edit(i), nil
	case CopyIntent:
		return s.Clipboard.Copy(i.Text), nil
	}
	return s.Handle(intent)
}

// Wait returns a command that waits for the earliest deadline of the screen and its parts, or nil if
// none is needed.
func (s *Screen) Wait() tea.Cmd { return s.timer.Start(s.timed(), s.Now(), s.After) }

// timed returns all parts with a deadline.
func (s *Screen) timed() []Timed {
	return slices.Concat([]Timed{&s.Status, &s.leave, &s.clock}, s.Overlays.timed(), s.Parts)
}

// Route passes a message to the overlays, then input that they do not handle to the screen. It
// returns the intent for the program.
func (s *Screen) Route(msg tea.Msg) (tea.Cmd, Intent) {
	s.Canvas.Dirty = s.Canvas.Dirty || IsInput(msg) || s.Overlays.Top() != nil
	if press, ok := msg.(tea.KeyPressMsg); ok {
		if s.Pressed != nil {
			s.Pressed()
		}
		if press.String() == "ctrl+c" {
			return s.pressCtrlC(), nil
		}
		s.leave.cancel()
		s.Status.Clear()
		if cmd, handled := s.pressAnywhere(press.String()); handled {
			return cmd, nil
		}
	}
	cmd, intents, pass := s.Overlays.Update(msg)
	var intent Intent
	for _, i := range intents {
		more, asked := s.handle(i)
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
			s.leave.cancel()
			return cmd
		}
	}
	return s.leave.press(s.Now())
}

// pressAnywhere handles the keys that work in every overlay and every text field: those that open
// the palette and the help, and the keys of the owner.
func (s *Screen) pressAnywhere(key string) (cmd tea.Cmd, handled bool) {
	action, top := s.Styles.Keys.At(keymap.Global, key), s.Overlays.Top()
	switch {
	case action == keymap.OpenPalette:
		palette := s.Palette(top)
		if palette == nil {
			return nil, false // the one on top closes
		}
		s.Overlays.Push(palette)
		return nil, true
	case action == keymap.Help && top != nil:
		if _, isPager := top.(*Pager); isPager {
			return nil, false // it closes
		}
		s.Overlays.Push(NewHelp(s.Styles, top.Scope()))
		return nil, true
	case s.Anywhere == nil:
		return nil, false
	}
	return s.Anywhere(action, top)
}

// LeaveLine returns the line after the first ctrl+c, or "".
func (s *Screen) LeaveLine(width int) string {
	if !s.leave.pending() {
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
