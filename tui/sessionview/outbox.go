package sessionview

import (
	"slices"
	"strings"

	"agentctl/internal/attachment"
	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
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

// outbox holds the messages sent by this view that no event has reported yet.
type outbox struct {
	styles   *ui.Styles
	messages []unsentMessage
}

// add appends a message with a client_message_id.
func (o *outbox) add(id, text string, files []attachment.File) {
	o.messages = append(o.messages, unsentMessage{id: id, text: text, files: files})
}

// find returns the message with an ID, or nil.
func (o *outbox) find(id string) *unsentMessage {
	for i := range o.messages {
		if id != "" && o.messages[i].id == id {
			return &o.messages[i]
		}
	}
	return nil
}

// remove removes a message.
func (o *outbox) remove(id string) {
	o.messages = slices.DeleteFunc(o.messages, func(m unsentMessage) bool { return id != "" && m.id == id })
}

// apply removes the message that an event reports.
func (o *outbox) apply(e *protocol.Event) {
	if len(o.messages) == 0 {
		return
	}
	switch e.Type {
	case protocol.MessageUser, protocol.QueueAdded, protocol.QueueScheduled:
		o.remove(remote.DecodeData[protocol.Message](e.Data).ClientMessageID)
	}
}

// accept marks a message as accepted. seq is that of the event that reports it.
func (o *outbox) accept(id string, seq uint64) {
	if m := o.find(id); m != nil {
		m.accepted, m.seq = true, seq
	}
}

// removeReported removes the messages whose events have been applied: those up to seq.
func (o *outbox) removeReported(seq uint64) {
	o.messages = slices.DeleteFunc(o.messages, func(m unsentMessage) bool { return m.seq != 0 && m.seq <= seq })
}

// fail records why sending a message failed.
func (o *outbox) fail(id, err string) {
	if m := o.find(id); m != nil {
		m.err = err
	}
}

// withdrawFailed records that a message could not be withdrawn.
func (o *outbox) withdrawFailed(id string) {
	if m := o.find(id); m != nil {
		m.withdrawing = false
	}
}

// takeRefused removes the last message that failed and returns it.
func (o *outbox) takeRefused() (unsentMessage, bool) {
	for i := len(o.messages) - 1; i >= 0; i-- {
		if m := o.messages[i]; m.err != "" {
			o.remove(m.id)
			return m, true
		}
	}
	return unsentMessage{}, false
}

// lastUnanswered returns the last message without an answer that is not being withdrawn, or nil.
func (o *outbox) lastUnanswered() *unsentMessage {
	for i := len(o.messages) - 1; i >= 0; i-- {
		if m := &o.messages[i]; m.err == "" && !m.accepted && !m.withdrawing {
			return m
		}
	}
	return nil
}

// unaccepted returns the messages that the server may not have.
func (o *outbox) unaccepted() (texts []string, files []attachment.File) {
	for i := range o.messages {
		if m := &o.messages[i]; !m.accepted {
			texts, files = append(texts, m.text), append(files, m.files...)
		}
	}
	return texts, files
}

// view returns one line per message.
func (o *outbox) view(width int, state remote.ConnState) []string {
	var out []string
	back := ui.Prefixed(" · ", o.styles.Keys.Hint(keymap.TakeBack, "takes it back"))
	last := o.lastUnanswered()
	for i := range o.messages {
		m := &o.messages[i]
		text, style := ui.Excerpt(m.text), o.styles.Dim
		if len(m.files) > 0 {
			text = strings.TrimPrefix(text+" · "+format.Count(len(m.files), "file"), " · ")
		}
		switch {
		case m.err != "":
			style = o.styles.Error
			text = " ✗ not sent: " + format.JoinLines(transcript.Clean(m.err)) + back + " · " + text
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
