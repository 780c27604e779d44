package sessionview

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/describe"
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
// meanwhile.
func (v *View) editQueued(message protocol.Message) tea.Cmd {
	v.composer.Edit(message.MessageID, message.Text)
	v.setFocus(onComposer)
	return v.holdEdited()
}

// holdEdited holds the edited message. The hold belongs to the current connection.
func (v *View) holdEdited() tea.Cmd {
	v.panels.holds.connection = v.replica.conn.Connection
	data := protocol.QueueHoldData{MessageID: v.composer.Editing}
	return v.commands.send(protocol.DoQueueHold, data, nil, v.commands.report)
}

// renewHold holds the edited message again after a reconnect: the hold of the old connection
// expires.
func (v *View) renewHold() tea.Cmd {
	if v.composer.Editing == "" || !v.replica.connected() || v.replica.conn.Connection == v.panels.holds.connection {
		return nil
	}
	return v.holdEdited()
}

// cancelEdit ends an edit and releases its hold.
func (v *View) cancelEdit() tea.Cmd {
	message := v.composer.EndEdit()
	h := describe.EditHold(v.replica.state, message)
	if h == nil || h.By == nil || *h.By != v.replica.conn.By {
		return nil
	}
	return v.commands.send(protocol.DoQueueRelease, protocol.QueueReleaseData{Hold: h.ID}, nil, v.commands.report)
}

// editTitle returns the title of the composer during an edit. While disconnected it includes the
// remaining time of the hold.
func (v *View) editTitle() string {
	h := describe.EditHold(v.replica.state, v.composer.Editing)
	if h == nil || v.replica.connected() {
		return "editing a queued message"
	}
	if left := v.panels.holds.remaining(h); left > 0 {
		return fmt.Sprintf("editing · held for %ds more", ui.Seconds(left))
	}
	return "editing · no longer held"
}
