package input

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/composer"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// ForkedIntent asks the program to open the session that was forked for another version of a
// message, with the message in its composer.
type ForkedIntent struct {
	Session string // ID of the new session on the server of this one
	Text    string
}

// lastTurn undoes and forks the last turn of the session, and takes its message into the
// composer.
type lastTurn struct {
	panel.Base
	composer *composer.Composer
	recall   *recall
	empty    func() bool        // reports whether a message can be put into the composer
	forked   func(ForkedIntent) // passes an intent to the program
}

// undo undoes the turn and puts its messages into an empty composer.
func (l *lastTurn) undo() tea.Cmd {
	undone, status := new(protocol.UndoResult), l.Commands.Status
	return l.Commands.Send(protocol.DoUndo, protocol.Empty{}, undone, func(err error) tea.Cmd {
		switch {
		case err != nil:
			status.Text = remote.ErrorText(err)
		case l.empty():
			text := undone.Message.Text
			for _, m := range undone.Steered {
				text += "\n\n" + m.Text
			}
			l.composer.SetText(transcript.Clean(text))
			status.Text = "undone: the message can be edited and sent again"
		default:
			status.Text = "undone"
		}
		return nil
	})
}

// fork makes a session of some turns, by default of all. then gets its ID; it may be nil.
func (l *lastTurn) fork(data protocol.ForkData, then func(session string)) tea.Cmd {
	created := new(protocol.CreateResult)
	return l.Commands.Send(protocol.DoFork, data, created, func(err error) tea.Cmd {
		if err != nil {
			return l.Commands.Report(err)
		}
		l.Commands.Status.Text = "forked as session " + transcript.CleanLine(created.Session)
		if then != nil {
			then(created.Session)
		}
		return nil
	})
}

// edit takes the message into the composer: it is sent as a new one. If the agent can fork and the
// program shows other sessions, it asks whether to edit the message here or in a session that ends
// before it.
func (l *lastTurn) edit(sessions bool) panel.Result {
	text, turn := l.composer.LastSent(l.Replica.Conn.By)
	forks := sessions && l.Replica.Connected() && l.Replica.State.Options.Has(protocol.FeatureFork)
	if !forks || turn == "" {
		return panel.Result{Cmd: l.recall.last()}
	}
	fork := func() tea.Cmd {
		l.Commands.Status.Text = "forking …"
		return l.fork(protocol.ForkData{Turn: turn, Before: true}, func(session string) {
			l.forked(ForkedIntent{session, text})
		})
	}
	title := "edit your last message here, or in a fork that ends before it?"
	question := ui.NewQuestion(l.Styles, title,
		ui.Choice{Label: "Edit here", Run: l.recall.last}, ui.Choice{Label: "Fork", Run: fork})
	question.SelectAt(1)
	return panel.Result{Push: question}
}
