package sessionview

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// ForkedIntent asks the program to open the session that was forked for another version of a
// message, with the message in its composer.
type ForkedIntent struct {
	Session string // ID of the new session on the server of this one
	Text    string
}

// editLast takes the last message of the user into the composer: it is sent as a new one. If the
// agent can fork, it asks whether to edit the message here or in a new session that ends before it.
func (v *View) editLast() tea.Cmd {
	text, turn := v.composer.LastSent(v.replica.Conn.By)
	forks := v.Sessions && v.replica.Connected() && v.replica.State.Options.Has(protocol.FeatureFork)
	if !forks || turn == "" {
		return v.recallLast()
	}
	title := "edit your last message here, or in a fork that ends before it?"
	question := ui.NewQuestion(v.Styles, title,
		ui.Choice{Label: "Edit here", Run: v.recallLast},
		ui.Choice{Label: "Fork", Run: func() tea.Cmd { return v.forkBefore(turn, text) }},
	)
	question.Focus(1)
	v.overlays.Push(question)
	return nil
}

// recallLast takes the last message of the user into the composer.
func (v *View) recallLast() tea.Cmd {
	if !v.composer.RecallSent(v.replica.Conn.By) {
		return v.olderMessages()
	}
	v.status.Text = "your last message: enter sends it as a new one"
	return nil
}

// forkBefore makes a session of the turns before one, for another version of its message.
func (v *View) forkBefore(turn, text string) tea.Cmd {
	v.status.Text = "forking …"
	created := new(protocol.CreateResult)
	data := protocol.ForkData{Turn: turn, Before: true}
	return v.commands.Send(protocol.DoFork, data, created, func(err error) tea.Cmd {
		if err != nil {
			return v.commands.Report(err)
		}
		v.status.Text = "forked as session " + format.JoinLines(transcript.Clean(created.Session))
		v.intent = ForkedIntent{created.Session, text}
		return nil
	})
}
