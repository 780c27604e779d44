package input

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
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

// editingText says why a key does nothing during the edit of a queued message.
const editingText = "a queued message is edited"

// openEditor opens the message in the user's editor.
func (in *Input) openEditor() panel.Result {
	done := func(text string) {
		in.composer.SetText(strings.TrimRight(transcript.Clean(text), "\n"))
		in.changeDraft()
	}
	edit := ui.EditIntent{Extension: "md", Text: in.composer.Text(), Done: done}
	return panel.Result{Leave: true, Intent: edit}
}

// EditQueued starts editing a queued message. The hold keeps the server from starting the message
// before the edit ends.
func (in *Input) EditQueued(message protocol.Message) tea.Cmd {
	in.composer.Edit(message.MessageID, message.Text)
	return in.Queue.BeginEdit(message.MessageID)
}

// editLast takes the last message of the user into the composer: it is sent as a new one. If the
// agent can fork, it asks whether to edit the message here or in a new session that ends before it.
func (in *Input) editLast() panel.Result {
	text, turn := in.composer.LastSent(in.Replica.Conn.By)
	forks := in.Sessions && in.Replica.Connected() && in.Replica.State.Options.Has(protocol.FeatureFork)
	if !forks || turn == "" {
		return panel.Result{Cmd: in.recallLast()}
	}
	title := "edit your last message here, or in a fork that ends before it?"
	question := ui.NewQuestion(in.Styles, title,
		ui.Choice{Label: "Edit here", Run: in.recallLast},
		ui.Choice{Label: "Fork", Run: func() tea.Cmd { return in.forkBefore(turn, text) }},
	)
	question.Focus(1)
	return panel.Result{Push: question}
}

// recallLast takes the last message of the user into the composer.
func (in *Input) recallLast() tea.Cmd {
	if !in.composer.RecallSent(in.Replica.Conn.By) {
		return in.olderMessages()
	}
	in.Commands.Status.Text = "your last message: enter sends it as a new one"
	return nil
}

// forkBefore makes a session of the turns before one, for another version of its message.
func (in *Input) forkBefore(turn, text string) tea.Cmd {
	in.Commands.Status.Text = "forking …"
	created := new(protocol.CreateResult)
	data := protocol.ForkData{Turn: turn, Before: true}
	return in.Commands.Send(protocol.DoFork, data, created, func(err error) tea.Cmd {
		if err != nil {
			return in.Commands.Report(err)
		}
		in.Commands.Status.Text = "forked as session " + format.JoinLines(transcript.Clean(created.Session))
		in.Forked(ForkedIntent{created.Session, text})
		return nil
	})
}
