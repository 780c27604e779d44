package input

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
)

// repeatTurn repeats the last turn. Its notices come as events.
func (in *Input) repeatTurn() tea.Cmd { return in.Commands.Do(protocol.DoRetry, protocol.Empty{}) }

// forkSession makes a session of all turns.
func (in *Input) forkSession() tea.Cmd {
	created, status := new(protocol.CreateResult), in.Commands.Status
	return in.Commands.Send(protocol.DoFork, protocol.ForkData{}, created, func(err error) tea.Cmd {
		if status.Text = "forked as session " + format.JoinLines(transcript.Clean(created.Session)); err != nil {
			status.Text = remote.ErrorText(err)
		}
		return nil
	})
}

// undoTurn undoes the last turn and puts its message into an empty composer.
func (in *Input) undoTurn() tea.Cmd {
	undone, status := new(protocol.UndoResult), in.Commands.Status
	return in.Commands.Send(protocol.DoUndo, protocol.Empty{}, undone, func(err error) tea.Cmd {
		switch {
		case err != nil:
			status.Text = remote.ErrorText(err)
		case in.empty():
			in.composer.SetText(transcript.Clean(undone.Message.Text))
			status.Text = "undone: the message can be edited and sent again"
		default:
			status.Text = "undone"
		}
		return nil
	})
}
