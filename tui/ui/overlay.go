package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
)

// Overlay is a component that receives the input while it is on top of a Stack.
type Overlay interface {
	// Update handles a message. Input (see IsInput) arrives only while the overlay is on top, all
	// other messages always.
	Update(msg tea.Msg) Response

	// View returns at most height lines of at most width cells, and the position of the cursor in
	// them or nil.
	View(width, height int) ([]string, *tea.Cursor)

	// Scope returns the keymap scope that is active.
	Scope() keymap.Scope

	// FullScreen reports whether the overlay covers the screen. Otherwise it is docked above the
	// last line.
	FullScreen() bool
}

// Response holds the requests of an overlay to its stack and its owner. The zero value requests
// nothing.
type Response struct {
	Cmd    tea.Cmd
	Close  bool    // remove this overlay
	Push   Overlay // push this overlay, after a Close
	Intent any     // handled by the owner of the stack; nil: none
	Pass   bool    // pass the message to the screen below
}

// RestyleMsg reports that the styles have changed.
type RestyleMsg struct{}

// Stack is the stack of overlays of a screen. Its owner passes every message to Update first.
type Stack struct{ overlays []Overlay }

// Push adds an overlay on top.
func (s *Stack) Push(o Overlay) { s.overlays = append(s.overlays, o) }

// Top returns the overlay on top, or nil.
func (s *Stack) Top() Overlay {
	if len(s.overlays) == 0 {
		return nil
	}
	return s.overlays[len(s.overlays)-1]
}

// Contains reports whether an overlay is on the stack.
func (s *Stack) Contains(o Overlay) bool { return slices.Contains(s.overlays, o) }

// Remove removes an overlay if it is on the stack.
func (s *Stack) Remove(o Overlay) {
	s.overlays = slices.DeleteFunc(s.overlays, func(other Overlay) bool { return other == o })
}

// Update passes input to the overlay on top and any other message to all overlays. It returns their
// commands and intents, and whether the screen below must handle the message too.
func (s *Stack) Update(msg tea.Msg) (cmd tea.Cmd, intents []any, pass bool) {
	if IsInput(msg) {
		top := s.Top()
		if top == nil {
			return nil, nil, true
		}
		if _, isWheel := msg.(tea.MouseWheelMsg); isWheel && !top.FullScreen() {
			return nil, nil, true // it is not over the rows of the overlay
		}
		r := s.update(top, msg)
		row, isRow := msg.(RowMsg)
		return r.Cmd, r.intents(), r.Pass || isRow && row.Wheel != 0 && row.List != "" && !top.FullScreen()
	}
	var cmds []tea.Cmd
	for _, o := range slices.Clone(s.overlays) {
		r := s.update(o, msg)
		cmds, intents = append(cmds, r.Cmd), append(intents, r.intents()...)
	}
	return tea.Batch(cmds...), intents, true
}

// update passes a message to an overlay and applies the changes of the stack that it asks for.
func (s *Stack) update(o Overlay, msg tea.Msg) Response {
	r := o.Update(msg)
	if r.Close {
		s.Remove(o)
	}
	if r.Push != nil {
		s.Push(r.Push)
	}
	return r
}

// intents returns the intent as a list of at most one.
func (r *Response) intents() []any {
	if r.Intent == nil {
		return nil
	}
	return []any{r.Intent}
}

// IsInput reports whether a message is a key press, a paste or a mouse event.
func IsInput(msg tea.Msg) bool {
	switch msg.(type) {
	case tea.KeyPressMsg, tea.PasteMsg, tea.MouseMsg, RowMsg:
		return true
	}
	return false
}

// WheelRows returns the number of rows that a mouse wheel event scrolls, negative for up.
func WheelRows(msg tea.MouseWheelMsg) int {
	if msg.Button == tea.MouseWheelUp {
		return -3
	}
	return 3
}

// Show draws the overlay on top if it covers the screen, and reports whether it does. A last line
// that is not empty replaces the last line of the overlay.
func (s *Stack) Show(v *tea.View, styles *Styles, last string, width, height int) bool {
	top := s.Top()
	if top == nil || !top.FullScreen() {
		return false
	}
	lines, cursor := top.View(width, height)
	if last != "" && height > 0 {
		lines = append(slices.Clone(lines), make([]string, max(0, height-len(lines)))...)[:height]
		lines[height-1] = last
	}
	v.SetContent(styles.Frame(lines, width, height))
	if cursor != nil && cursor.X < width && cursor.Y < height {
		v.Cursor = cursor
	}
	return true
}

// Docked returns the overlay on top if it is docked, or nil.
func (s *Stack) Docked() Overlay {
	if top := s.Top(); top != nil && !top.FullScreen() {
		return top
	}
	return nil
}

// timed returns the overlays with a deadline.
func (s *Stack) timed() (out []Timed) {
	for _, o := range s.overlays {
		if part, ok := o.(Timed); ok {
			out = append(out, part)
		}
	}
	return out
}
