package input

import (
	"agentctl/internal/attachment"
	"agentctl/protocol"
	"agentctl/tui/composer"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/sessionview/shellview"
)

// submit sends the message, or the new text of a queued one. It runs a command. With delivery steer it sends
// a new message only.
func (in *Input) submit(delivery protocol.Delivery) panel.Result {
	text, status := in.composer.Value(), in.Commands.Status
	switch {
	case delivery == protocol.DeliverSteer && !in.composer.IsNewMessage():
		status.Text = "only a new message is sent into the turn"
		return panel.Result{}
	case in.composer.Shell:
		config := shellview.Config{Styles: in.Styles, Runner: &in.Commands.Runner, After: in.After}
		return runShell(config, &in.composer, in.directory())
	case text == "" && (len(in.attachments.files) == 0 || in.composer.Editing != ""), in.stopMoved():
		return panel.Result{}
	case in.composer.Editing != "":
		return panel.Result{Cmd: in.edit.save(text, nil), ToQueue: true}
	}
	message, word := remote.SlashMessage(text)
	if word != "" {
		run, refusal := parseWord(word, text, in.TakesText)
		if refusal != "" {
			status.Text = refusal
			return panel.Result{}
		}
		in.composer.Clear()
		return panel.Result{Intent: run}
	}
	if about := in.keys.explainLeaving(in.Styles.Keys, message); about != "" {
		status.Text = about
		return panel.Result{}
	}
	in.composer.Clear()
	return in.send(message, delivery, in.attachments.take())
}

// release releases the queue, after it has saved the edit of a queued message.
func (in *Input) release() panel.Result {
	if in.composer.Editing == "" {
		return panel.Result{Cmd: in.Queue.Release()}
	}
	text := in.composer.Value()
	if text == "" {
		return panel.Result{}
	}
	return panel.Result{Cmd: in.edit.save(text, in.Queue.Release)}
}

// send sends a new message and shows the end of the transcript.
func (in *Input) send(text string, delivery protocol.Delivery, files []attachment.File) panel.Result {
	in.Transcript.ScrollToBottom()
	id := in.NewID()
	if text != "" {
		in.composer.Messages().Add(id, text)
	}
	return panel.Result{Cmd: in.Outbox.Send(id, text, delivery, files, parts(text, files, in.directory(), in.Local))}
}

// Restore inserts the text of an unsent message before the one in the composer, and adds its files.
func (in *Input) Restore(text string, files []attachment.File) {
	in.composer.Restore(text)
	in.attachments.add(files...)
	if in.composer.Editing != "" {
		in.Commands.Status.Text = "the message is restored after this edit"
	}
}

// Continue inserts a text that was written about a request after the one in the composer. moved
// reports that its field had the keys: the next enter does not send the text.
func (in *Input) Continue(text string, moved bool) {
	in.composer.Continue(text)
	in.keys.moved = moved
}

// KeepText adds a text that was written elsewhere to the unsent message.
func (in *Input) KeepText(text string) {
	in.composer.Continue(text)
	in.drafts.save()
}

// runShell runs the shell command in the composer in a directory and shows its output. Without a
// directory it runs in the process's own.
func runShell(config shellview.Config, c *composer.Composer, dir string) panel.Result {
	command := c.Value()
	if command == "" {
		return panel.Result{}
	}
	c.EndShell()
	page, cmd := shellview.Run(config, command, dir)
	return panel.Result{Push: page, Cmd: cmd}
}
