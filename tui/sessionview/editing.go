package sessionview

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// editText opens a text in the user's editor. It calls done with the result in the event loop.
func (v *View) editText(extension, text string, done func(string)) tea.Cmd {
	e := &ui.Editor{Context: v.Tasks.Context(), Command: v.Editor, Extension: extension, Text: text}
	return v.Exec(e, func(err error) tea.Msg { return v.Tasks.Wrap(editedMsg{e.Text, err, done}) })
}

// finishEditor handles the text that the user's editor returned.
func (v *View) finishEditor(msg editedMsg) {
	if msg.err != nil {
		v.status.Text = msg.err.Error()
		return
	}
	msg.done(msg.text)
}

// composeInEditor opens the message in the user's editor.
func (v *View) composeInEditor() tea.Cmd {
	v.setFocus(onComposer)
	return v.editText("md", v.composer.Text(), func(text string) {
		v.composer.SetText(strings.TrimRight(transcript.Clean(text), "\n"))
	})
}

// editQueued starts editing a queued message. The hold keeps the server from starting the message
// before the edit ends.
func (v *View) editQueued(message protocol.Message) tea.Cmd {
	v.composer.Edit(message.MessageID, message.Text)
	v.setFocus(onComposer)
	return v.panels.queue.BeginEdit(message.MessageID)
}
