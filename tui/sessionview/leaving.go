package sessionview

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/attachment"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// leaveText is the line after the first ctrl+c.
const leaveText = " ctrl+c again leaves · the session goes on"

// replayLeaveText is leaveText of a recording.
const replayLeaveText = " ctrl+c again leaves"

// keyHistory records earlier keys that change the meaning of the next one.
type keyHistory struct {
	arrows    arrowKeys
	cleared   *clearedDraft // the last key was ctrl+c and cleared this
	deletion  bool          // the last key was ctrl+d and deleted a character
	explained string        // the message that was explained instead of sent; enter again sends it
	moved     bool          // the text was written about a request: the next enter does not send it
	escape    time.Time     // when the last key was an esc that did nothing; zero: it was not
}

// clearedDraft is a draft that ctrl+c cleared.
type clearedDraft struct {
	text  string
	shell bool
	files []attachment.File
}

// clearWritten clears the draft that is being written, if there is one, instead of leaving.
func (v *View) clearWritten() (cmd tea.Cmd, cleared bool) {
	if v.overlays.Top() == nil && v.focus == onComposer && !v.composerEmpty() {
		return v.clearDraft(), true
	}
	v.pressed.cleared = nil
	return nil, false
}

// composerEmpty reports whether there is nothing in the composer: no text, no file, no edit and no
// shell command.
func (v *View) composerEmpty() bool {
	return v.composer.Empty() && v.composer.Editing == "" && !v.composer.Shell && len(v.panels.attachments.files) == 0
}

// clearDraft clears the composer and keeps its text in the history. It ends an edit or a recall
// like the key that cancels.
func (v *View) clearDraft() tea.Cmd {
	switch {
	case v.composer.Editing != "":
		v.composer.KeepInHistory()
		return v.panels.queue.EndEdit(v.composer.EndEdit())
	case v.composer.Recalling() && !v.composer.Shell:
		v.composer.EndRecall()
		return nil
	}
	v.composer.KeepInHistory()
	v.pressed.cleared = &clearedDraft{v.composer.Text(), v.composer.Shell, v.panels.attachments.take()}
	v.composer.SetShell(false)
	back := v.Styles.Keys.Hint(keymap.RestoreDraft, "restores it")
	v.status.Text = "draft cleared" + ui.Prefixed(keymap.Separator, back)
	return nil
}

// pressRestore handles the key that restores a draft, directly after ctrl+c cleared it.
func (v *View) pressRestore(key string, cleared *clearedDraft) bool {
	if cleared == nil || v.focus != onComposer || v.Styles.Keys.At(keymap.Composer, key) != keymap.RestoreDraft {
		return false
	}
	v.composer.SetShell(cleared.shell)
	v.composer.SetText(cleared.text)
	v.addFiles(cleared.files...)
	return true
}

// pressCtrlD ends the program if the composer is empty. With a text it deletes the next character;
// repetitions of that press do not end the program.
func (v *View) pressCtrlD() tea.Cmd {
	if v.composerEmpty() {
		if v.pressed.deletion {
			return nil
		}
		return tea.Quit
	}
	v.composer.Press(tea.KeyPressMsg{Code: tea.KeyDelete})
	v.pressed.deletion = true
	return nil
}
