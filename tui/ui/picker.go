package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
)

// List describes the rows of a [Picker] and the outcome of its keys. Rows, ID and Draw are required.
// The functions are called for every key and drawing, so that a picker shows changes of its rows.
type List[T any] struct {
	Rows   func(text string) []T // those that match the text of the field
	ID     func(row T) string    // unique as far as possible: the selection stays on it
	Draw   func(row T, selected bool, width int) []string
	Choose func(row T) Response // nil: Press handles the key

	// Title returns the title of a screen of width cells. at is the index of the selected row of rows,
	// or -1.
	Title  func(at, rows, width int) string
	Empty  func(text string) string // the line without rows; nil: none
	Hint   func() string            // the keys; nil: shown elsewhere
	Status func() string            // replaces the keys unless it is empty; may be nil

	// Complete returns the text of a row for the field. nil: a row completes nothing.
	Complete func(row T) string
	// Press handles a key that does nothing in lists. It may be nil.
	Press func(key string) (r Response, handled bool)
	// Before requests rows before the first one, when a key moves up from there. It may be nil.
	Before func() Response

	Label       string // of the text field; "": there is no field
	Placeholder string // shown while the field is empty
	Message     bool   // the field is the message box: keys that move its cursor stay its keys
	Upwards     bool   // the last row is selected first
	Docked      int    // maximum number of rows above the last line of the screen; 0: it covers the screen
	Leave       any    // intent of the key that closes it
}

// Picker is a list of rows, one of them selected, with an optional text field that filters them. It
// is an overlay; a list beside other parts uses Handle, Act and Lines.
type Picker[T any] struct {
	List[T]
	styles *Styles
	field  *TextInput // nil: none
	moved  bool       // the user or the owner has selected a row; otherwise it is the first one
	id     string     // of the selected row
	at     int        // its distance from the first row; if Upwards, from the last row
	page   int        // rows at the last drawing
}

// CompleteIntent asks the owner of the message box to complete its text.
type CompleteIntent struct{ Text string }

// NewPicker returns a picker with the first row selected, or the last one if it is Upwards.
func NewPicker[T any](s *Styles, list List[T]) *Picker[T] {
	p := &Picker[T]{List: list, styles: s, page: 1}
	if list.Label != "" {
		p.field = s.NewTextInput("")
		p.field.Changed = p.Reset // selects the first row again
	}
	return p
}

// Text returns the text of the field.
func (p *Picker[T]) Text() string {
	if p.field == nil {
		return ""
	}
	return p.field.Value()
}

// Page returns the number of rows at the last drawing.
func (p *Picker[T]) Page() int { return p.page }

// Reset selects the first row, or the last one if the picker is Upwards.
func (p *Picker[T]) Reset() { p.moved, p.id, p.at = false, "", 0 }

// Select selects the row with an id.
func (p *Picker[T]) Select(id string) { p.moved, p.id = true, id }

// SelectAt selects the row at an index, or the nearest one.
func (p *Picker[T]) SelectAt(i int) { p.selectAt(p.Rows(p.Text()), i) }

func (p *Picker[T]) selectAt(rows []T, i int) {
	if len(rows) > 0 {
		i = max(0, min(i, len(rows)-1))
		p.moved, p.id, p.at = true, p.ID(rows[i]), p.distance(i, len(rows))
	}
}

// distance converts an index of n rows to the distance from the first selected row, and back.
func (p *Picker[T]) distance(i, n int) int {
	if p.Upwards {
		return n - 1 - i
	}
	return i
}

// Index returns the index of the selected row, or of the row that took its place. It is -1 without
// rows.
func (p *Picker[T]) Index() int { return p.index(p.Rows(p.Text())) }

func (p *Picker[T]) index(rows []T) int {
	n := len(rows)
	if n == 0 {
		return -1
	}
	i := p.distance(max(0, min(p.at, n-1)), n)
	if !p.moved || p.ID(rows[i]) == p.id {
		return i
	}
	if found := slices.IndexFunc(rows, func(row T) bool { return p.ID(row) == p.id }); found >= 0 {
		p.at = p.distance(found, n)
		return found
	}
	return i
}

// Selected returns the selected row. ok is false without rows.
func (p *Picker[T]) Selected() (row T, ok bool) {
	rows := p.Rows(p.Text())
	if i := p.index(rows); i >= 0 {
		return rows[i], true
	}
	return row, false
}

// Update implements [Overlay].
func (p *Picker[T]) Update(msg tea.Msg) Response {
	r, _ := p.Handle(msg)
	return r
}

// Handle handles input. It reports false for input that does nothing in the list.
func (p *Picker[T]) Handle(msg tea.Msg) (r Response, handled bool) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return p.press(msg)
	case tea.PasteMsg:
		if p.field != nil {
			p.field.Paste(msg.Content)
			return Response{}, true
		}
	case tea.MouseWheelMsg:
		return p.move(WheelRows(msg)), true
	case RowMsg:
		return p.point(msg), msg.List == ""
	}
	return Response{}, false
}

// point handles the mouse on a row. A click selects it, or chooses the selected one.
func (p *Picker[T]) point(msg RowMsg) (r Response) {
	row, ok := p.Selected()
	switch {
	case msg.List != "":
	case msg.Wheel != 0:
		r = p.move(msg.Wheel)
	case msg.Row != p.Index():
		p.SelectAt(msg.Row)
	case ok && p.Choose != nil:
		r = p.Choose(row)
	}
	return r
}

// press handles a key.
func (p *Picker[T]) press(msg tea.KeyPressMsg) (r Response, handled bool) {
	action := p.action(msg)
	row, ok := p.Selected()
	switch {
	case action == keymap.Back:
		return Response{Close: true, Intent: p.Leave}, true
	case action == keymap.Choose && ok && p.Choose != nil:
		return p.Choose(row), true
	case action == keymap.Complete && ok && p.Complete != nil:
		return p.complete(p.Complete(row)), true
	}
	if r, handled = p.Act(action); handled {
		return r, true
	}
	if p.Press != nil && !(p.field != nil && Writes(msg)) {
		if r, handled = p.Press(msg.String()); handled {
			return r, true
		}
	}
	if p.field == nil {
		return Response{}, false
	}
	return p.field.Press(msg), true
}

// action returns the action of a key in the list. In a text field a key that writes has none.
func (p *Picker[T]) action(msg tea.KeyPressMsg) keymap.Action {
	if p.field == nil && !p.Message {
		return p.styles.Keys.At(keymap.Lists, msg.String())
	}
	action := p.styles.FieldAction(msg)
	if p.Message && (action == keymap.First || action == keymap.Last) {
		return ""
	}
	return action
}

// complete puts the text of a row into the field.
func (p *Picker[T]) complete(text string) Response {
	if p.field == nil {
		return Response{Intent: CompleteIntent{text}}
	}
	p.field.SetValue(text)
	p.Reset()
	return Response{}
}

// Act moves the selection. It reports false for an action that does not.
func (p *Picker[T]) Act(action keymap.Action) (r Response, handled bool) {
	switch action {
	case keymap.Up:
		r = p.move(-1)
	case keymap.Down:
		r = p.move(1)
	case keymap.PageUp:
		r = p.move(-p.page)
	case keymap.PageDown:
		r = p.move(p.page)
	case keymap.First:
		p.SelectAt(0)
	case keymap.Last:
		p.SelectAt(len(p.Rows(p.Text())) - 1)
	default:
		return Response{}, false
	}
	return r, true
}

// move moves the selection by a number of rows.
func (p *Picker[T]) move(by int) Response {
	rows := p.Rows(p.Text())
	i := p.index(rows)
	if by < 0 && i <= 0 && p.Before != nil {
		return p.Before()
	}
	p.selectAt(rows, i+by)
	return Response{}
}

// Scope implements [Overlay].
func (p *Picker[T]) Scope() keymap.Scope { return keymap.Lists }

// FullScreen implements [Overlay].
func (p *Picker[T]) FullScreen() bool { return p.Docked == 0 }
