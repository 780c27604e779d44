package input

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/internal/attachment"
	"agentctl/protocol"
	"agentctl/tui/drafts"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
)

// Begin handles a key before any part takes it: it ends what lasts until the next key. It reports
// whether the key restored a draft that the key before cleared.
func (in *Input) Begin(key string) (restored bool) {
	cleared := in.keys.begin(key)
	if cleared == nil || !in.focused || in.Styles.Keys.At(keymap.Global, key) != keymap.Suspend {
		return false
	}
	in.composer.SetShell(cleared.Shell)
	in.composer.SetText(cleared.Text)
	in.attachments.add(cleared.Files...)
	return true
}

// Write handles a key that writes, before any other key of the view. It reports false for other keys.
// The first ! in an empty input starts a shell command; a pasted ! is text.
func (in *Input) Write(msg tea.KeyPressMsg) bool {
	switch {
	case msg.Text == "!" && !in.NoShell && in.empty() && !in.composer.Recalling():
		in.composer.SetShell(true)
	case ui.Writes(msg):
		in.composer.Press(msg)
	default:
		return false
	}
	return true
}

// HandleList passes a key or the wheel to the list beside the message, if there is one. It reports
// whether the list took it.
func (in *Input) HandleList(msg tea.Msg) (result panel.Result, handled bool) {
	r, handled := in.completion.Handle(in.completed(in.composer.Text), msg)
	switch {
	case r.Message != "":
		in.composer.SetText(r.Message)
	case r.Word != "":
		in.composer.ReplaceWord(r.Word)
	case r.Run != nil:
		in.composer.Clear()
		result.Intent = *r.Run
	}
	return result, handled
}

// completed returns a text of the composer if lists beside the message complete it, or "".
func (in *Input) completed(text func() string) string {
	if !in.focused || !in.composer.IsNewMessage() || in.Overlays.Top() != nil {
		return ""
	}
	return text()
}

// Press handles a key while the input has the focus.
func (in *Input) Press(msg tea.KeyPressMsg) panel.Result {
	key := msg.String()
	if key == "alt+esc" { // two esc that arrived together
		esc := tea.KeyPressMsg{Code: tea.KeyEscape}
		if r := in.Press(esc); in.keys.escape.IsZero() {
			return r
		}
		return in.Press(esc)
	}
	action, empty := in.Styles.Keys.At(keymap.Composer, key), in.empty()
	backspace := key == "backspace" && in.composer.Empty()
	switch {
	case action == keymap.PasteImage && in.composer.IsNewMessage():
		return panel.Result{Cmd: in.attachments.pasteImage(attachment.Clipboard{Env: in.Env, Files: in.Local})}
	case action == keymap.PasteImage:
		in.Commands.Status.Text = "only a new message takes an image"
	case backspace && in.composer.Shell:
		in.composer.SetShell(false)
	case (backspace || action == keymap.RemoveAttachment) && in.attachments.removeLast():
	case action == keymap.EarlierMessage && msg.Code != tea.KeyUp:
		return panel.Result{Cmd: in.recall.step(1)}
	case action == keymap.LaterMessage && msg.Code != tea.KeyDown:
		return panel.Result{Cmd: in.recall.step(-1)}
	case action == keymap.EarlierMessage, action == keymap.LaterMessage:
		steps := empty || in.composer.Recalling() || in.composer.Shell && in.composer.Empty()
		cmd, handled := in.recall.press(action, steps)
		if !handled {
			in.composer.Press(msg)
		}
		return panel.Result{Cmd: cmd}
	case action == keymap.Send:
		return in.submit("")
	case action == keymap.SendSteer:
		return in.submit(protocol.DeliverSteer)
	case action == keymap.Cancel:
		return in.cancel()
	case key == "ctrl+d" && !empty:
		in.composer.Press(tea.KeyPressMsg{Code: tea.KeyDelete})
		in.keys.deleted = true
	case key == "ctrl+d" && in.keys.deleted: // a repetition of the key that deleted
	case key == "ctrl+d":
		return panel.Result{Cmd: tea.Quit}
	default:
		in.composer.Press(msg)
	}
	return panel.Result{}
}

// cancel ends an edit or a recall of earlier messages, else closes the search or goes to the end of
// the transcript, else interrupts the turn. Pressed twice in an empty composer without a turn, it
// edits the last message of the user.
func (in *Input) cancel() panel.Result {
	switch {
	case in.stopMoved():
	case in.composer.Editing != "":
		return panel.Result{Cmd: in.edit.cancel(), ToQueue: true}
	case in.composer.Shell:
		in.composer.EndShell()
	case in.composer.Recalling():
		in.composer.EndRecall()
	case in.Transcript.Escape():
	case in.Replica.State.Turn != nil:
		return panel.Result{Intent: panel.RunIntent{Action: keymap.Interrupt}}
	case in.keys.escaped(in.empty()):
		return in.lastTurn.edit(in.Sessions)
	}
	return panel.Result{}
}

// stopMoved reports whether a key was meant for the text field of a removed request. The next
// key acts.
func (in *Input) stopMoved() bool {
	moved := in.keys.takeMoved(in.composer.Empty())
	if moved {
		in.Commands.Status.Text = "the request is gone: this is a message now" +
			ui.Prefixed(keymap.Separator, in.Styles.Keys.Hint(keymap.Send, "again sends it"))
	}
	return moved
}

// Clear clears the draft that is being written, if there is one, instead of leaving. Its text stays
// in the history. Clear ends an edit or a recall like the key that cancels.
func (in *Input) Clear() (cmd tea.Cmd, cleared bool) {
	switch {
	case in.Overlays.Top() != nil || !in.focused || in.empty():
		in.keys.cleared = nil
		return nil, false
	case in.composer.Editing != "":
		in.composer.KeepInHistory()
		return in.edit.cancel(), true
	case in.composer.Recalling() && !in.composer.Shell:
		in.composer.EndRecall()
		return nil, true
	}
	in.composer.KeepInHistory()
	in.keys.cleared = &drafts.Draft{
		Text: in.composer.Text(), Shell: in.composer.Shell, Files: in.attachments.take(),
	}
	in.composer.SetShell(false)
	in.Commands.Status.Text = "draft cleared" +
		ui.Prefixed(keymap.Separator, in.Styles.Keys.Hint(keymap.Suspend, "restores it"))
	return nil, true
}

// Paste inserts a pasted text. The paths of existing files become attachments of a new message.
func (in *Input) Paste(text string) tea.Cmd {
	if paths := attachment.PastedPaths(text, in.Env["HOME"]); paths != nil && in.composer.IsNewMessage() {
		return in.attachments.read(paths, func() { in.composer.Paste(text) })
	}
	in.composer.Paste(text)
	return nil
}
