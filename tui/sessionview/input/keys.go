package input

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
)

// Begin handles a key before any part takes it: it ends what lasts until the next key. It reports
// whether the key restored a draft that the key before cleared.
func (in *Input) Begin(key string) (restored bool) {
	cleared := in.pressed.cleared
	in.pressed.cleared = nil
	if key != "ctrl+d" {
		in.pressed.deletion = false
	}
	if key != "esc" {
		in.pressed.escape = time.Time{}
	}
	return in.restoreCleared(key, cleared)
}

// Write handles a key that writes, before any other key of the view. It reports false for other keys.
func (in *Input) Write(msg tea.KeyPressMsg) bool {
	switch {
	case in.startsShell(msg):
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
	if !in.focused || in.composer.Editing != "" || in.composer.Shell || in.Overlays.Top() != nil {
		return ""
	}
	return text()
}

// Press handles a key while the input has the focus.
func (in *Input) Press(msg tea.KeyPressMsg) panel.Result { return in.press(msg.String(), msg) }

func (in *Input) press(key string, msg tea.KeyPressMsg) panel.Result {
	if key == "alt+esc" { // two esc that arrived together
		if r := in.press("esc", msg); in.pressed.escape.IsZero() {
			return r
		}
		key = "esc"
	}
	action := in.Styles.Keys.At(keymap.Composer, key)
	if cmd, handled := in.pressAttachments(action, key); handled {
		return panel.Result{Cmd: cmd}
	}
	empty := in.empty()
	if empty && in.pressEmpty(action) {
		return panel.Result{}
	}
	if empty || in.composer.Recalling() || in.composer.Shell && in.composer.Empty() {
		if cmd, handled := in.pressRecall(action); handled {
			return panel.Result{Cmd: cmd}
		}
	} else if in.wheelRow(action) {
		return panel.Result{}
	}
	switch action {
	case keymap.Send:
		return in.submit()
	case keymap.Cancel:
		return in.cancel()
	case keymap.DeleteOrLeave:
		return panel.Result{Cmd: in.pressCtrlD()}
	}
	in.composer.Press(msg)
	return panel.Result{}
}

// pressEmpty handles the additional keys of an empty input.
func (in *Input) pressEmpty(action keymap.Action) bool {
	switch action {
	case keymap.ComposerScrollUp:
		in.Transcript.Scroll(-1)
	case keymap.ComposerScrollDown:
		in.Transcript.Scroll(1)
	default:
		return false
	}
	return true
}

// cancel ends an edit or a recall of earlier messages. Otherwise it interrupts the turn.
func (in *Input) cancel() panel.Result {
	switch {
	case in.stopMoved():
	case in.composer.Editing != "":
		return panel.Result{Cmd: in.Queue.EndEdit(in.composer.EndEdit())}
	case in.composer.Shell:
		in.endShell()
	case in.composer.Recalling():
		in.composer.EndRecall()
	case in.Replica.State.Turn == nil:
		return in.cancelIdle()
	default:
		return panel.Result{Intent: panel.RunIntent{Action: keymap.Interrupt}}
	}
	return panel.Result{}
}

// stopMoved reports whether a key was meant for the text field of a removed request. The next
// key acts.
func (in *Input) stopMoved() bool {
	moved := in.pressed.moved && !in.composer.Empty()
	if in.pressed.moved = false; moved {
		in.Commands.Status.Text = "the request is gone: this is a message now" +
			ui.Prefixed(keymap.Separator, in.Styles.Keys.Hint(keymap.Send, "again sends it"))
	}
	return moved
}

// escapeInterval is the longest time between two esc that edit the last message.
const escapeInterval = 500 * time.Millisecond

// cancelIdle handles esc without anything to cancel. Pressed twice in an empty composer, it edits
// the last message of the user.
func (in *Input) cancelIdle() panel.Result {
	last, now := in.pressed.escape, in.Now()
	in.pressed.escape = time.Time{}
	switch {
	case !in.empty():
		return panel.Result{}
	case last.IsZero() || now.Sub(last) > escapeInterval:
		in.pressed.escape = now
		return panel.Result{}
	}
	return in.editLast()
}
