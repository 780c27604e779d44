package sessionview

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
)

// takeBackTurn undoes or repeats the last turn, or forks the session. Its notices and the new
// session come as events.
func (v *View) takeBackTurn(action keymap.Action) tea.Cmd {
	switch action {
	case keymap.RepeatTurn:
		return v.commands.Do(protocol.DoRetry, protocol.Empty{})
	case keymap.ForkSession:
		created := new(protocol.CreateResult)
		return v.commands.Send(protocol.DoFork, protocol.ForkData{}, created, func(err error) tea.Cmd {
			if v.status.Text = "forked as session " + format.JoinLines(transcript.Clean(created.Session)); err != nil {
				v.status.Text = remote.ErrorText(err)
			}
			return nil
		})
	}
	undone := new(protocol.UndoResult)
	return v.commands.Send(protocol.DoUndo, protocol.Empty{}, undone, func(err error) tea.Cmd {
		switch {
		case err != nil:
			v.status.Text = remote.ErrorText(err)
		case v.composerEmpty():
			v.composer.SetText(transcript.Clean(undone.Message.Text))
			v.status.Text = "undone: the message can be edited and sent again"
		default:
			v.status.Text = "undone"
		}
		return nil
	})
}
