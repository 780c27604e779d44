package ui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
)

// Form is a docked overlay with text fields.
type Form struct {
	Title  string
	Hint   string // the keys, shown on the last line of the screen
	Fields []Field

	// Changed is called after input that may have changed a field. It may be nil.
	Changed func(f *Form)
	// Submit is called on enter.
	Submit func(f *Form) Response
	// Cancel is called on esc, before the form closes. It may be nil.
	Cancel func()

	styles  *Styles
	focused int
	sending bool   // submitted; input is ignored
	err     string // why it was refused
	advice  string // what the user can do about it; may be empty
}

// Field is a text field of a form.
type Field struct {
	Label       string
	Placeholder string   // shown while the field is empty
	Choices     []string // values that the arrow keys step through

	text  string // at first
	input *TextInput
}

// NewField returns a field with the given text.
func NewField(label, text, placeholder string, choices ...string) Field {
	return Field{Label: label, Placeholder: placeholder, Choices: choices, text: text}
}

// NewForm returns a form with the focus on its first field.
func NewForm(s *Styles, title, hint string, fields ...Field) *Form {
	f := &Form{Title: title, Hint: hint, Fields: fields, styles: s}
	for i := range fields {
		f.initField(&fields[i])
	}
	return f
}

// initField makes the input of a field.
func (f *Form) initField(field *Field) {
	field.input = f.styles.NewTextInput(field.text)
	field.input.Changed = func() {
		f.clearError()
		f.notifyChanged()
	}
}

// Value returns the text of field i.
func (f *Form) Value(i int) string { return f.Fields[i].input.Value() }

// SetValue sets the text of field i and moves its cursor to the end.
func (f *Form) SetValue(i int, text string) {
	f.Fields[i].input.SetValue(text)
	f.notifyChanged()
}

// Insert inserts a field before field i. The focus stays where it is.
func (f *Form) Insert(i int, field Field) {
	f.initField(&field)
	f.Fields = slices.Insert(f.Fields, i, field)
	if f.focused >= i {
		f.focused++
	}
}

// Remove removes field i. The next field gets its focus.
func (f *Form) Remove(i int) {
	f.Fields = slices.Delete(f.Fields, i, i+1)
	if f.focused > i || f.focused == len(f.Fields) {
		f.focused--
	}
}

// Sending marks the form as submitted. It ignores input until Fail is called.
func (f *Form) Sending() {
	f.sending = true
	f.clearError()
}

// Fail shows an error, and what the user can do about it, and accepts input again.
func (f *Form) Fail(message, advice string) { f.sending, f.err, f.advice = false, message, advice }

func (f *Form) clearError() { f.err, f.advice = "", "" }

// Scope returns the scope of forms.
func (f *Form) Scope() keymap.Scope { return keymap.Lists }

// FullScreen returns false.
func (f *Form) FullScreen() bool { return false }

// KeyHint returns the hint of the form's keys.
func (f *Form) KeyHint() string { return f.styles.Keys.MarkFixed(f.Hint) }

// Update handles input.
func (f *Form) Update(msg tea.Msg) Response {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return f.handleKey(msg)
	case tea.PasteMsg:
		if !f.sending {
			f.Fields[f.focused].input.Paste(msg.Content)
		}
	case RowMsg:
		if msg.List == "" && msg.Wheel == 0 {
			f.focused = min(msg.Row, len(f.Fields)-1)
		}
	}
	return Response{}
}

// handleKey handles a key press. While the form is submitted only cancel has an effect.
func (f *Form) handleKey(msg tea.KeyPressMsg) Response {
	field := &f.Fields[f.focused]
	switch action := f.styles.FieldAction(msg); {
	case action == keymap.Back:
		if f.Cancel != nil {
			f.Cancel()
		}
		return Response{Close: true}
	case f.sending:
	case action == keymap.Choose:
		return f.Submit(f)
	case action == keymap.Complete, action == keymap.Down:
		f.focused = (f.focused + 1) % len(f.Fields)
	case f.styles.Keys.At(keymap.Global, msg.String()) == keymap.FocusPrevious, action == keymap.Up:
		f.focused = (f.focused + len(f.Fields) - 1) % len(f.Fields)
	case action == keymap.Next && field.step(1), action == keymap.Previous && field.step(-1):
		f.notifyChanged()
	default:
		return field.input.Press(msg)
	}
	return Response{}
}

// notifyChanged calls Changed if it is set.
func (f *Form) notifyChanged() {
	if f.Changed != nil {
		f.Changed(f)
	}
}

// step replaces the text by the next (1) or previous (-1) choice. It returns false if the text is
// not a choice; the key then moves the cursor.
func (f *Field) step(by int) bool {
	choices := append([]string{""}, f.Choices...)
	current := slices.Index(choices, f.input.Value())
	if current < 0 || len(f.Choices) == 0 {
		return false
	}
	f.input.SetValue(choices[(current+by+len(choices))%len(choices)])
	return true
}

// View returns a title line, the error, and one line per field. Fields scroll if height is too
// small; the error leaves at least one line for them.
func (f *Form) View(width, height int) ([]string, *tea.Cursor) {
	title := f.styles.Bold.Render(f.Title)
	if f.sending {
		title += " · " + f.styles.Warning.Render("sending …")
	}
	head := append([]string{f.styles.Rule(title, width)}, f.errorLines(width)...)
	head = head[:max(min(len(head), height-1), 0)]
	labelWidth := 0
	for i := range f.Fields {
		labelWidth = max(labelWidth, transcript.Width(f.Fields[i].Label))
	}
	var lines []string
	for i := range f.Fields {
		lines = append(lines, f.styles.Keys.MarkRow("", i, f.fieldLine(i, labelWidth, width)))
	}
	lines, row := Window(lines, f.focused, height-len(head))
	out := append(head, lines...)
	if len(out) > height || len(lines) == 0 {
		return out[:max(min(len(out), height), 0)], nil
	}
	label := Pad("", 3+labelWidth+1)
	return out, InputCursor(label, f.Fields[f.focused].input, row+len(head))
}

// errorLines returns the lines of the error and of the advice.
func (f *Form) errorLines(width int) (out []string) {
	add := func(style Style, text string) {
		for line := range strings.Lines(text) {
			for _, line := range Wrap(transcript.CleanLine(strings.TrimSpace(line)), max(width-4, 1)) {
				out = append(out, Fit("   "+style.Render(line), width))
			}
		}
	}
	add(f.styles.Error, f.err)
	add(f.styles.Dim, f.advice)
	return out
}

// fieldLine returns the line of field i: its label, and its text or placeholder.
func (f *Form) fieldLine(i, labelWidth, width int) string {
	field := &f.Fields[i]
	label := "   " + Pad(field.Label, labelWidth) + " "
	inputWidth := width - transcript.Width(label)
	field.input.model.SetWidth(max(1, inputWidth-1))
	text := field.input.model.View()
	if field.input.Value() == "" {
		text = f.styles.Dim.Render(Fit(field.Placeholder, inputWidth))
	}
	if i == f.focused {
		label = " ▸ " + label[3:]
	}
	return Fit(f.styles.Bold.Render(label)+text, width)
}
