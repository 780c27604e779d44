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

// editText opens a text in the user's editor; done takes the result in the event loop.
func (v *View) editText(extension, text string, done func(string)) tea.Cmd {
	e := &ui.Editor{Context: v.Tasks.Context(), Command: v.Editor, Extension: extension, Text: text}
	return v.Exec(e, func(err error) tea.Msg { return v.Tasks.Wrap(editedMsg{e.Text, err, done}) })
}

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

// editQueued holds a queued message, so that it does not start, and puts its text into the composer.
func (v *View) editQueued(message protocol.Message) tea.Cmd {
	v.composer.Edit(message.MessageID, message.Text)
	v.setFocus(onComposer)
	return v.holdEdited()
}

// holdEdited holds the edited message through this connection.
func (v *View) holdEdited() tea.Cmd {
	v.panels.holds.connection = v.replica.conn.Connection
	data := protocol.QueueHoldData{MessageID: v.composer.Editing}
	return v.commands.do(protocol.DoQueueHold, data, nil, v.commands.report)
}

// renewHold moves the hold of an edit to a new connection: the hold of the old one expires.
func (v *View) renewHold() tea.Cmd {
	if v.composer.Editing == "" || !v.replica.connected() || v.replica.conn.Connection == v.panels.holds.connection {
		return nil
	}
	return v.holdEdited()
}

// cancelEdit ends an edit and its hold.
func (v *View) cancelEdit() tea.Cmd {
	message := v.composer.EndEdit()
	h := describe.EditHold(v.replica.state, message)
	if h == nil || h.By == nil || *h.By != v.replica.conn.By {
		return nil
	}
	return v.commands.do(protocol.DoQueueRelease, protocol.QueueReleaseData{Hold: h.ID}, nil, v.commands.report)
}

// editTitle says that a queued message is edited and, without a connection, how long it is still held.
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
