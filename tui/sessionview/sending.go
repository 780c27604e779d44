package sessionview

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/attachment"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// pressComposer handles a key while the composer has the focus.
func (v *View) pressComposer(key string, msg tea.KeyPressMsg) tea.Cmd {
	if key == "alt+esc" { // two esc that arrived at once
		if cmd := v.pressComposer("esc", msg); v.pressed.escape.IsZero() {
			return cmd
		}
		key = "esc"
	}
	action := v.Styles.Keys.At(keymap.Composer, key)
	if cmd, handled := v.pressAttachments(action, key); handled {
		return cmd
	}
	empty := v.composerEmpty()
	if empty && v.pressEmptyComposer(action) {
		return nil
	}
	if empty || v.composer.Recalling() || v.composer.Shell && v.composer.Empty() {
		if cmd, handled := v.pressRecall(action); handled {
			return cmd
		}
	} else if v.wheelRow(action) {
		return nil
	}
	switch action {
	case keymap.Send:
		return v.submit()
	case keymap.Cancel:
		return v.cancel()
	case keymap.DeleteOrLeave:
		return v.pressCtrlD()
	}
	v.composer.Press(msg)
	return nil
}

// pressEmptyComposer handles the additional keys of an empty composer.
func (v *View) pressEmptyComposer(action keymap.Action) bool {
	switch action {
	case keymap.ComposerScrollUp:
		v.transcript.Scroll(-1)
	case keymap.ComposerScrollDown:
		v.transcript.Scroll(1)
	default:
		return false
	}
	return true
}

// pressRecall steps through earlier messages. Arrows of a mouse wheel scroll instead.
func (v *View) pressRecall(action keymap.Action) (cmd tea.Cmd, handled bool) {
	switch action {
	case keymap.ComposerEarlier:
		if v.wheelArrow(1) {
			return nil, true
		}
		if v.composer.AtEdge(false) {
			return v.earlierMessage(), true
		}
	case keymap.ComposerLater:
		if v.wheelArrow(-1) {
			return nil, true
		}
		if v.composer.AtEdge(true) {
			if v.composer.Recall(-1, v.replica.Conn.By) {
				v.pressed.arrows.recallSteps = -1
			}
			return nil, true
		}
	}
	return nil, false
}

// cancel ends an edit or a recall of earlier messages. Otherwise it interrupts the turn.
func (v *View) cancel() tea.Cmd {
	switch {
	case v.stopMoved():
		return nil
	case v.composer.Editing != "":
		return v.panels.queue.EndEdit(v.composer.EndEdit())
	case v.composer.Shell:
		v.endShell()
		return nil
	case v.composer.Recalling():
		v.composer.EndRecall()
		return nil
	case v.replica.State.Turn == nil:
		return v.cancelIdle()
	}
	return v.panels.interrupt.Start()
}

// stopMoved reports whether a key was meant for the text field of a request that is gone. The next
// key acts.
func (v *View) stopMoved() bool {
	moved := v.pressed.moved && !v.composer.Empty()
	if v.pressed.moved = false; moved {
		v.status.Text = "the request is gone: this is a message now" +
			ui.Prefixed(keymap.Separator, v.Styles.Keys.Hint(keymap.Send, "again sends it"))
	}
	return moved
}

// escapeInterval is the longest time between two esc that edit the last message.
const escapeInterval = 500 * time.Millisecond

// cancelIdle handles esc without anything to cancel. Pressed twice in an empty composer, it edits
// the last message of the user.
func (v *View) cancelIdle() tea.Cmd {
	last, now := v.pressed.escape, v.Now()
	v.pressed.escape = time.Time{}
	switch {
	case !v.composerEmpty():
		return nil
	case last.IsZero() || now.Sub(last) > escapeInterval:
		v.pressed.escape = now
		return nil
	}
	return v.editLast()
}

// earlierMessage recalls the previous message of the user. At the first one it requests older
// turns.
func (v *View) earlierMessage() tea.Cmd {
	v.setFocus(onComposer)
	if v.composer.Recall(1, v.replica.Conn.By) {
		v.pressed.arrows.recallSteps = 1
		return nil
	}
	if v.composer.Editing != "" {
		v.status.Text = "a queued message is edited"
		return nil
	}
	return v.olderMessages()
}

// olderMessages requests older turns, whose messages extend the history.
func (v *View) olderMessages() tea.Cmd {
	if v.transcript.View.HasOlder() && v.replica.Connected() {
		v.status.Text = "looking further back: press it again"
		return v.transcript.RequestOlder()
	}
	v.status.Text = "no earlier message"
	return nil
}

// submit sends the message, or the new text of a queued one.
func (v *View) submit() tea.Cmd {
	if v.composer.Shell {
		return v.runShell()
	}
	text := v.composer.Value()
	if text == "" && (len(v.panels.attachments.files) == 0 || v.composer.Editing != "") || v.stopMoved() {
		return nil
	}
	if message := v.composer.Editing; message != "" {
		v.composer.EndEdit()
		parts, _ := v.panels.queue.Parts(message) // its files stay
		data := protocol.QueueEditData{MessageID: message, Text: text, Parts: parts}
		return v.commands.Send(protocol.DoQueueEdit, data, nil, func(err error) tea.Cmd {
			if err != nil {
				v.composer.Paste(text) // keep the text
			}
			return v.commands.Report(err)
		})
	}
	text, own := remote.SlashMessage(text)
	switch {
	case own != "":
		return v.runWord(own)
	case v.explainEditorCommand(text):
		return nil
	}
	v.composer.Clear()
	v.transcript.ScrollToBottom()
	return v.sendMessage(text, v.panels.attachments.take())
}

// sendMessage sends a new message.
func (v *View) sendMessage(text string, files []attachment.File) tea.Cmd {
	id := v.NewID()
	if text != "" {
		v.composer.AddSent(id, text)
	}
	return v.panels.outbox.Send(id, text, files, v.parts(text, files))
}

// restore inserts the text of an unsent message before the one in the composer, and adds its files.
func (v *View) restore(text string, files []attachment.File) {
	v.composer.Restore(text)
	v.addFiles(files...)
	v.setFocus(onComposer)
	if v.composer.Editing != "" {
		v.status.Text = "the message is restored after this edit"
	}
}
