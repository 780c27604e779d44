package input

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
)

// pressRecall steps through earlier messages. Arrows of a mouse wheel scroll instead.
func (in *Input) pressRecall(action keymap.Action) (cmd tea.Cmd, handled bool) {
	switch action {
	case keymap.ComposerEarlier:
		if in.wheelArrow(1) {
			return nil, true
		}
		if in.composer.AtEdge(false) {
			return in.earlierMessage(), true
		}
	case keymap.ComposerLater:
		if in.wheelArrow(-1) {
			return nil, true
		}
		if in.composer.AtEdge(true) {
			if in.composer.Recall(-1, in.Replica.Conn.By) {
				in.pressed.arrows.recallSteps = -1
			}
			return nil, true
		}
	}
	return nil, false
}

// earlierMessage recalls the previous message of the user. At the first one it requests older
// turns.
func (in *Input) earlierMessage() tea.Cmd {
	if in.composer.Recall(1, in.Replica.Conn.By) {
		in.pressed.arrows.recallSteps = 1
		return nil
	}
	if in.composer.Editing != "" {
		in.Commands.Status.Text = editingText
		return nil
	}
	return in.olderMessages()
}

// olderMessages requests older turns, whose messages extend the history.
func (in *Input) olderMessages() tea.Cmd {
	cmd, older := in.Transcript.RequestOlder()
	in.Commands.Status.Text = "no earlier message"
	if older {
		in.Commands.Status.Text = "looking further back: press it again"
	}
	return cmd
}
