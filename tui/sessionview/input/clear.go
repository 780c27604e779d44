package input

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/attachment"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

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

// Clear clears the draft that is being written, if there is one, instead of leaving.
func (in *Input) Clear() (cmd tea.Cmd, cleared bool) {
	if in.Overlays.Top() == nil && in.focused && !in.empty() {
		return in.clearDraft(), true
	}
	in.pressed.cleared = nil
	return nil, false
}

// clearDraft clears the composer and keeps its text in the history. It ends an edit or a recall
// like the key that cancels.
func (in *Input) clearDraft() tea.Cmd {
	switch {
	case in.composer.Editing != "":
		in.composer.KeepInHistory()
		return in.Queue.EndEdit(in.composer.EndEdit())
	case in.composer.Recalling() && !in.composer.Shell:
		in.composer.EndRecall()
		return nil
	}
	in.composer.KeepInHistory()
	in.pressed.cleared = &clearedDraft{in.composer.Text(), in.composer.Shell, in.attachments.take()}
	in.composer.SetShell(false)
	back := in.Styles.Keys.Hint(keymap.RestoreDraft, "restores it")
	in.Commands.Status.Text = "draft cleared" + ui.Prefixed(keymap.Separator, back)
	return nil
}

// restoreCleared handles the key that restores a draft, directly after ctrl+c cleared it.
func (in *Input) restoreCleared(key string, cleared *clearedDraft) bool {
	if cleared == nil || !in.focused || in.Styles.Keys.At(keymap.Composer, key) != keymap.RestoreDraft {
		return false
	}
	in.composer.SetShell(cleared.shell)
	in.composer.SetText(cleared.text)
	in.addFiles(cleared.files...)
	return true
}

// pressCtrlD ends the program if the composer is empty. With a text it deletes the next character;
// repetitions of that press do not end the program.
func (in *Input) pressCtrlD() tea.Cmd {
	if in.empty() {
		if in.pressed.deletion {
			return nil
		}
		return tea.Quit
	}
	in.composer.Press(tea.KeyPressMsg{Code: tea.KeyDelete})
	in.pressed.deletion = true
	return nil
}
