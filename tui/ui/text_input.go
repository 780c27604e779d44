package ui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/edit"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
)

// TextInput is a text field of one line with the editing keys of the user.
type TextInput struct {
	Changed func() // called after a key, a paste or the user's editor changed the text; may be nil

	model  inputModel
	keys   edit.Keys
	styles *Styles
}

// NewTextInput returns a focused input with the cursor at the end of text.
func (s *Styles) NewTextInput(text string) *TextInput {
	in := &TextInput{model: inputModel{textinput.New()}, styles: s}
	in.model.Prompt = ""
	in.model.SetVirtualCursor(false)
	in.SetValue(text)
	in.model.Focus()
	return in
}

// Mask hides the text: it is a secret.
func (in *TextInput) Mask() { in.model.EchoMode = textinput.EchoPassword }

// Masked reports whether the text is hidden.
func (in *TextInput) Masked() bool { return in.model.EchoMode == textinput.EchoPassword }

// Value returns the text.
func (in *TextInput) Value() string { return in.model.Value() }

// SetValue replaces the text. The cursor is at its end.
func (in *TextInput) SetValue(text string) {
	in.model.SetValue(text)
	in.model.CursorEnd()
}

// Press handles a key. The one of [keymap.OpenEditor] returns an [EditIntent] with the text.
func (in *TextInput) Press(msg tea.KeyPressMsg) Response {
	if !Writes(msg) && in.styles.Keys.At(keymap.Global, msg.String()) == keymap.OpenEditor {
		return Response{Intent: EditIntent{Text: in.Value(), Done: func(text string) {
			in.change(func() { in.SetValue(transcript.CleanLine(strings.TrimSpace(text))) })
		}}}
	}
	in.change(func() { in.keys.Press(&in.model, msg) })
	return Response{}
}

// Paste inserts untrusted text as one line.
func (in *TextInput) Paste(text string) {
	in.change(func() { in.model.Model, _ = in.model.Update(tea.PasteMsg{Content: transcript.CleanLine(text)}) })
}

// change runs edit and reports a change of the text.
func (in *TextInput) change(edit func()) {
	before := in.Value()
	if edit(); in.Changed != nil && in.Value() != before {
		in.Changed()
	}
}

// FieldAction returns the action of a key in a list or search with a text field. A key that writes
// has none.
func (s *Styles) FieldAction(msg tea.KeyPressMsg) keymap.Action {
	if Writes(msg) {
		return ""
	}
	return s.Keys.InField(msg.String())
}

// Writes reports whether a key press writes text into a text field.
func Writes(msg tea.KeyPressMsg) bool { return edit.Writes(msg) }

// InputLine returns a label and an input in at most width cells.
func (s *Styles) InputLine(label string, in *TextInput, width int) string {
	in.model.SetWidth(max(1, width-transcript.Width(label)-1))
	return Fit(s.Bold.Render(label)+in.model.View(), width)
}

// InputCursor returns the cursor of an input that follows a label, on row y.
func InputCursor(label string, in *TextInput, y int) *tea.Cursor {
	x := transcript.Width(label)
	if c := in.model.Cursor(); c != nil {
		x += c.X
	}
	return tea.NewCursor(x, y)
}

// inputModel is the text input of Bubble Tea as an edit.Field.
type inputModel struct{ textinput.Model }

// Text implements edit.Field.
func (m *inputModel) Text() (text string, cursor int) {
	text = m.Value()
	return text, len(string([]rune(text)[:m.Position()]))
}

// SetText implements edit.Field. It leaves out line breaks.
func (m *inputModel) SetText(text string, cursor int) {
	before := strings.ReplaceAll(text[:cursor], "\n", "")
	m.SetValue(before + strings.ReplaceAll(text[cursor:], "\n", ""))
	m.SetCursor(len([]rune(before)))
}

// Handle implements edit.Field.
func (m *inputModel) Handle(msg tea.KeyPressMsg) { m.Model, _ = m.Update(msg) }

// Kills implements edit.Field.
func (m *inputModel) Kills(msg tea.KeyPressMsg) bool {
	k := &m.KeyMap
	return key.Matches(msg, k.DeleteWordBackward, k.DeleteWordForward, k.DeleteAfterCursor, k.DeleteBeforeCursor)
}
