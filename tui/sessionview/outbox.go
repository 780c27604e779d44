package sessionview

import (
	"slices"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// unsentMessage is a message on its way. It is shown until an event of the session reports it.
type unsentMessage struct {
	id          string // client_message_id
	text        string
	accepted    bool   // the server has it
	seq         uint64 // of the event that reports it, once known
	err         string // why it was refused
	withdrawing bool
}

// outbox holds the messages sent from here that no event has reported yet.
type outbox struct {
	styles   *ui.Styles
	messages []unsentMessage
}

func (o *outbox) add(id, text string) {
	o.messages = append(o.messages, unsentMessage{id: id, text: text})
}

// find returns the message with an id, or nil.
func (o *outbox) find(id string) *unsentMessage {
	for i := range o.messages {
		if id != "" && o.messages[i].id == id {
			return &o.messages[i]
		}
	}
	return nil
}

// remove forgets a message.
func (o *outbox) remove(id string) {
	o.messages = slices.DeleteFunc(o.messages, func(m unsentMessage) bool { return id != "" && m.id == id })
}

// apply forgets a message that an event reports.
func (o *outbox) apply(e *protocol.Event) {
	if len(o.messages) == 0 {
		return
	}
	switch e.Type {
	case protocol.MessageUser, protocol.QueueAdded:
		o.remove(remote.DecodeData[protocol.Message](e.Data).ClientMessageID)
	}
}

// accept notes which event reports a message.
func (o *outbox) accept(id string, seq uint64) {
	if m := o.find(id); m != nil {
		m.accepted, m.seq = true, seq
	}
}

// removeReported forgets the messages whose events lie before a seq.
func (o *outbox) removeReported(seq uint64) {
	o.messages = slices.DeleteFunc(o.messages, func(m unsentMessage) bool { return m.seq != 0 && m.seq <= seq })
}

// fail marks a message as refused.
func (o *outbox) fail(id, err string) {
	if m := o.find(id); m != nil {
		m.err = err
	}
}

// withdrawFailed notes that a message could not be withdrawn.
func (o *outbox) withdrawFailed(id string) {
	if m := o.find(id); m != nil {
		m.withdrawing = false
	}
}

// takeRefused removes the last refused message and returns its text.
func (o *outbox) takeRefused() (string, bool) {
	for i := len(o.messages) - 1; i >= 0; i-- {
		if m := o.messages[i]; m.err != "" {
			o.remove(m.id)
			return m.text, true
		}
	}
	return "", false
}

// lastUnanswered returns the last message without an answer, or nil.
func (o *outbox) lastUnanswered() *unsentMessage {
	for i := len(o.messages) - 1; i >= 0; i-- {
		if m := &o.messages[i]; m.err == "" && !m.accepted && !m.withdrawing {
			return m
		}
	}
	return nil
}

// texts returns the messages that the server may not have.
func (o *outbox) texts() []string {
	var out []string
	for _, m := range o.messages {
		if !m.accepted {
			out = append(out, m.text)
		}
	}
	return out
}

// view returns a line for each message.
func (o *outbox) view(width int, state remote.ConnState) []string {
	var out []string
	back := ui.Prefixed(" · ", o.styles.Keys.Hint(keymap.TakeBack, "takes it back"))
	last := o.lastUnanswered()
	for i := range o.messages {
		m := &o.messages[i]
		text, style := ui.Excerpt(m.text), o.styles.Dim
		switch {
		case m.err != "":
			style = o.styles.Error
			text = " ✗ not sent: " + ui.OneLine(transcript.Clean(m.err)) + back + " · " + text
		case m.withdrawing:
			text = " ⇠ being taken back: " + text
		case state != remote.Connected && m == last:
			text = " ⇡ waits for the connection" + back + ": " + text
		case state != remote.Connected:
			text = " ⇡ waits for the connection: " + text
		default:
			text = " ⇡ sending: " + text
		}
		out = append(out, style.Render(ui.Fit(text, width)))
	}
	return out
}
