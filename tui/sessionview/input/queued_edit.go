package input

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/composer"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
)

// editingText says why a key does nothing during the edit of a queued message.
const editingText = "a queued message is edited"

// queuedEdit is the edit of a queued message in the composer.
type queuedEdit struct {
	panel.Base
	queue    Queue
	composer *composer.Composer
}

// begin starts an edit. The hold keeps the server from starting the message before the edit ends.
func (e *queuedEdit) begin(message protocol.Message) tea.Cmd {
	e.composer.Edit(message.MessageID, message.Text)
	return e.queue.BeginEdit(message.MessageID)
}

// cancel ends the edit without a change.
func (e *queuedEdit) cancel() tea.Cmd { return e.queue.EndEdit(e.composer.EndEdit()) }

// save ends the edit and sends a new text, then calls saved unless that is nil. The files of the
// message stay.
func (e *queuedEdit) save(text string, saved func() tea.Cmd) tea.Cmd {
	message := e.composer.EndEdit()
	parts, _ := e.queue.Parts(message)
	data := protocol.QueueEditData{MessageID: message, Text: text, Parts: parts}
	return e.Commands.Send(protocol.DoQueueEdit, data, nil, func(err error) tea.Cmd {
		switch {
		case err != nil:
			e.composer.Paste(text) // keep the text
		case saved != nil:
			return saved()
		}
		return e.Commands.Report(err)
	})
}

// Updated implements [panel.Part]. It ends the edit of a message that is no longer queued.
func (e *queuedEdit) Updated() tea.Cmd {
	if e.composer.Editing == "" {
		return nil
	}
	if _, queued := e.queue.Parts(e.composer.Editing); queued {
		return nil
	}
	e.Commands.Status.Text = "the edited message is no longer queued"
	if e.composer.LeaveEdit() {
		e.Commands.Status.Text += ": your text is in the message box"
	}
	return nil
}

// title returns the title of the composer during the edit.
func (e *queuedEdit) title() string {
	hint := ui.Prefixed(" · ", e.Styles.Keys.Hint(keymap.Send, "saves", keymap.Cancel, "cancels",
		keymap.ReleaseQueue, "releases too"))
	return e.Styles.Warning.Render(e.queue.EditTitle()) + e.Styles.Dim.Render(hint)
}
