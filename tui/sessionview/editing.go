package sessionview

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// composeInEditor opens the message in the user's editor.
func (v *View) composeInEditor() tea.Cmd {
	v.setFocus(onComposer)
	return v.screen.Edit(ui.EditIntent{Extension: "md", Text: v.composer.Text(), Done: func(text string) {
		v.composer.SetText(strings.TrimRight(transcript.Clean(text), "\n"))
	}})
}

// editQueued starts editing a queued message. The hold keeps the server from starting the message
// before the edit ends.
func (v *View) editQueued(message protocol.Message) tea.Cmd {
	v.composer.Edit(message.MessageID, message.Text)
	v.setFocus(onComposer)
	return v.panels.queue.BeginEdit(message.MessageID)
}
