package input

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/internal/attachment"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
)

// submit sends the message, or the new text of a queued one.
func (in *Input) submit() panel.Result {
	if in.composer.Shell {
		return in.runShell()
	}
	text := in.composer.Value()
	if text == "" && (len(in.attachments.files) == 0 || in.composer.Editing != "") || in.stopMoved() {
		return panel.Result{}
	}
	if message := in.composer.Editing; message != "" {
		in.composer.EndEdit()
		parts, _ := in.Queue.Parts(message) // its files stay
		data := protocol.QueueEditData{MessageID: message, Text: text, Parts: parts}
		return panel.Result{Cmd: in.Commands.Send(protocol.DoQueueEdit, data, nil, func(err error) tea.Cmd {
			if err != nil {
				in.composer.Paste(text) // keep the text
			}
			return in.Commands.Report(err)
		})}
	}
	text, own := remote.SlashMessage(text)
	switch {
	case own != "":
		return in.runWord(own)
	case in.explainEditorCommand(text):
		return panel.Result{}
	}
	in.composer.Clear()
	in.Transcript.ScrollToBottom()
	return panel.Result{Cmd: in.sendMessage(text, in.attachments.take())}
}

// sendMessage sends a new message.
func (in *Input) sendMessage(text string, files []attachment.File) tea.Cmd {
	id := in.NewID()
	if text != "" {
		in.composer.AddSent(id, text)
	}
	return in.Outbox.Send(id, text, files, in.parts(text, files))
}

// Restore inserts the text of an unsent message before the one in the composer, and adds its files.
func (in *Input) Restore(text string, files []attachment.File) {
	in.composer.Restore(text)
	in.addFiles(files...)
	if in.composer.Editing != "" {
		in.Commands.Status.Text = "the message is restored after this edit"
	}
}

// Continue inserts a text that was written about a request after the one in the composer. moved
// reports that its field had the keys: the next enter does not send the text.
func (in *Input) Continue(text string, moved bool) {
	in.composer.Continue(text)
	in.pressed.moved = moved
}
