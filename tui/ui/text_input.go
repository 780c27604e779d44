package ui

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/transcript"
)

// NewTextInput returns a focused single-line input with the cursor at the end of text.
func NewTextInput(text string) *textinput.Model {
	in := textinput.New()
	in.Prompt = ""
	in.SetVirtualCursor(false)
	in.SetValue(text)
	in.CursorEnd()
	in.Focus()
	return &in
}

// Writes reports whether a key press writes text into a text field.
func Writes(msg tea.KeyPressMsg) bool { return msg.Text != "" && msg.Mod&(tea.ModAlt|tea.ModCtrl) == 0 }

// PasteText inserts untrusted text as one line.
func PasteText(in *textinput.Model, text string) {
	*in, _ = in.Update(tea.PasteMsg{Content: OneLine(transcript.Clean(text))})
}

// InputLine returns a label and an input in at most width cells.
func (s *Styles) InputLine(label string, in *textinput.Model, width int) string {
	in.SetWidth(max(1, width-ansi.StringWidth(label)-1))
	return Fit(s.KeyName.Render(label)+in.View(), width)
}

// InputCursor returns the cursor of an input that follows a label, on row y.
func InputCursor(label string, in *textinput.Model, y int) *tea.Cursor {
	x := ansi.StringWidth(label)
	if c := in.Cursor(); c != nil {
		x += c.X
	}
	return tea.NewCursor(x, y)
}
