package ui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/edit"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
)

// TextInput is a text field of one line with the editing keys of the user.
type TextInput struct {
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

// Press handles a key.
func (in *TextInput) Press(msg tea.KeyPressMsg) { in.keys.Press(&in.model, msg) }

// Edit returns the intent to edit the text in the user's editor. ok is false for any key but the one
// of [keymap.OpenEditor]. changed is called after the edit; it may be nil.
func (in *TextInput) Edit(msg tea.KeyPressMsg, changed func()) (r Response, ok bool) {
	if Writes(msg) || in.styles.Keys.At(keymap.Global, msg.String()) != keymap.OpenEditor {
		return Response{}, false
	}
	return Response{Intent: EditIntent{Text: in.Value(), Done: func(text string) {
		in.SetValue(transcript.CleanLine(strings.TrimSpace(text)))
		if changed != nil {
			changed()
		}
	}}}, true
}

// Paste inserts untrusted text as one line.
func (in *TextInput) Paste(text string) {
	in.model.Model, _ = in.model.Update(tea.PasteMsg{Content: transcript.CleanLine(text)})
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
	in.model.SetWidth(max(1, width-ansi.StringWidth(label)-1))
	return Fit(s.Bold.Render(label)+in.model.View(), width)
}

// InputCursor returns the cursor of an input that follows a label, on row y.
func InputCursor(label string, in *TextInput, y int) *tea.Cursor {
	x := ansi.StringWidth(label)
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
