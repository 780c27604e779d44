package input

import (
	"context"
	"errors"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/attachment"
	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// unsentMessage is a message that no event has reported yet.
type unsentMessage struct {
	id          string // client_message_id
	text        string
	files       []attachment.File
	accepted    bool   // accepted by the server
	seq         uint64 // seq of the event that reports it; 0: unknown
	err         string // why sending failed; "": it did not
	withdrawing bool
}

// Outbox holds the messages sent by this view that no event has reported yet.
type Outbox struct {
	panel.Base
	Restore  func(text string, files []attachment.File) // puts an unsent message into the composer
	messages []unsentMessage
}

// Actions returns the actions of the outbox.
func (o *Outbox) Actions() panel.Actions {
	return panel.Actions{keymap.TakeBack: panel.Run(o.TakeBack)}
}

// Send sends a message and keeps it until an event reports it. parts returns the parts of the
// message. It runs outside of the event loop.
func (o *Outbox) Send(
	id, text string, delivery protocol.Delivery, files []attachment.File, parts func() ([]protocol.Part, error),
) tea.Cmd {
	o.messages = append(o.messages, unsentMessage{id: id, text: text, files: files})
	result := new(protocol.SendResult)
	data := protocol.SendData{Text: text, ClientMessageID: id, Delivery: delivery}
	return o.Commands.Run(func(ctx context.Context) (err error) {
		if data.Parts, err = parts(); err != nil {
			return err
		}
		return o.Commands.Session.Do(ctx, protocol.DoSend, data, result)
	}, o.Commands.Await(func(err error) tea.Cmd {
		switch {
		case errors.Is(err, remote.ErrWithdrawn):
			o.remove(id)
			o.Restore(text, files)
			return nil
		case err != nil:
			o.change(id, func(m *unsentMessage) { m.err = remote.ErrorText(err) })
			return nil
		}
		o.change(id, func(m *unsentMessage) { m.accepted, m.seq = true, result.Seq })
		o.removeReported()
		if result.Status == protocol.SendQueued || result.Status == protocol.SendSteering {
			o.Commands.Status.Text = describe.Queued(result)
		}
		return nil
	}))
}

// TakeBack puts the last message that failed back into the composer. Without one it withdraws the
// last message that waits for the connection.
func (o *Outbox) TakeBack() tea.Cmd {
	if m := o.last(func(m *unsentMessage) bool { return m.err != "" }); m != nil {
		text, files := m.text, m.files
		o.remove(m.id)
		o.Restore(text, files)
		return nil
	}
	withdrawer, ok := o.Commands.Session.(remote.Withdrawer)
	m := o.lastUnanswered()
	switch {
	case m == nil:
		o.Commands.Status.Text = "no message to take back"
		return nil
	case !ok:
		o.Commands.Status.Text = maybeSentText
		return nil
	}
	m.withdrawing = true
	id, withdrawn := m.id, false
	return o.Commands.Run(func(context.Context) error {
		withdrawn = withdrawer.Withdraw(id)
		return nil
	}, func(error) tea.Cmd {
		if !withdrawn { // if withdrawn, the callback of Send restores the text
			o.change(id, func(m *unsentMessage) { m.withdrawing = false })
			o.Commands.Status.Text = maybeSentText
		}
		return nil
	})
}

const maybeSentText = "the server may have it already: it cannot be taken back"

// change changes the message with an ID, if an event has not reported it.
func (o *Outbox) change(id string, change func(*unsentMessage)) {
	if m := o.last(func(m *unsentMessage) bool { return m.id == id }); m != nil {
		change(m)
	}
}

// last returns the last message for which is returns true, or nil.
func (o *Outbox) last(is func(*unsentMessage) bool) *unsentMessage {
	for i := len(o.messages) - 1; i >= 0; i-- {
		if is(&o.messages[i]) {
			return &o.messages[i]
		}
	}
	return nil
}

// lastUnanswered returns the last message without an answer that is not being withdrawn, or nil.
func (o *Outbox) lastUnanswered() *unsentMessage {
	return o.last(func(m *unsentMessage) bool { return m.err == "" && !m.accepted && !m.withdrawing })
}

// remove removes a message.
func (o *Outbox) remove(id string) {
	o.messages = slices.DeleteFunc(o.messages, func(m unsentMessage) bool { return m.id == id })
}

// Apply removes the message that an event reports.
func (o *Outbox) Apply(e *protocol.Event) {
	if len(o.messages) == 0 {
		return
	}
	switch e.Type {
	case protocol.MessageUser, protocol.QueueAdded, protocol.QueueScheduled:
		o.remove(remote.DecodeData[protocol.Message](e.Data).ClientMessageID)
	}
}

// Updated removes the messages whose events have been applied.
func (o *Outbox) Updated() tea.Cmd {
	o.removeReported()
	return nil
}

// removeReported removes the messages whose events have been applied.
func (o *Outbox) removeReported() {
	seq := o.Replica.State.Seq
	o.messages = slices.DeleteFunc(o.messages, func(m unsentMessage) bool { return m.seq != 0 && m.seq <= seq })
}

// Unaccepted returns the messages that the server may not have.
func (o *Outbox) Unaccepted() (texts []string, files []attachment.File) {
	for i := range o.messages {
		if m := &o.messages[i]; !m.accepted {
			texts, files = append(texts, m.text), append(files, m.files...)
		}
	}
	return texts, files
}

// View returns one line per message.
func (o *Outbox) View(width, _ int) []string {
	var out []string
	back := ui.Prefixed(" · ", o.Styles.Keys.Hint(keymap.TakeBack, "takes it back"))
	last := o.lastUnanswered()
	for i := range o.messages {
		m := &o.messages[i]
		text, style := ui.Excerpt(m.text), o.Styles.Plain
		if len(m.files) > 0 {
			text = strings.TrimPrefix(text+" · "+format.Count(len(m.files), "file"), " · ")
		}
		switch {
		case m.err != "":
			style = o.Styles.Error
			text = " ✗ not sent: " + transcript.CleanLine(m.err) + back + " · " + text
		case m.withdrawing:
			text = " ⇠ being taken back: " + text
		case !o.Replica.Connected() && m == last:
			text = " ⇡ waits for the connection" + back + ": " + text
		case !o.Replica.Connected():
			text = " ⇡ waits for the connection: " + text
		default:
			text = " ⇡ sending: " + text
		}
		out = append(out, style.Render(ui.Fit(text, width)))
	}
	return out
}
