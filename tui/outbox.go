package tui

import (
	"slices"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// sent is a message on its way: it shows until the session tells of it.
type sent struct {
	id   string // client_message_id
	text string
	took bool   // the server has it
	seq  uint64 // of the event that tells of it, once that is known
	err  string // why it was not taken
	back bool   // it is being taken back
}

// outbox holds the messages that were sent and have not come back yet.
type outbox struct {
	look    *look
	pending []sent
}

func (o *outbox) add(id, text string) { o.pending = append(o.pending, sent{id: id, text: text}) }

// arrived forgets a message that the session has told of.
func (o *outbox) arrived(id string) {
	for i := range o.pending {
		if id != "" && o.pending[i].id == id {
			o.pending = append(o.pending[:i:i], o.pending[i+1:]...)
			return
		}
	}
}

// taken notes which event tells of the message.
func (o *outbox) taken(id string, seq uint64) {
	for i := range o.pending {
		if o.pending[i].id == id {
			o.pending[i].took, o.pending[i].seq = true, seq
		}
	}
}

// settle forgets the messages whose events lie behind, seen or skipped.
func (o *outbox) settle(seq uint64) {
	o.pending = slices.DeleteFunc(o.pending, func(p sent) bool { return p.seq != 0 && p.seq <= seq })
}

// failed marks a message that was refused.
func (o *outbox) failed(id, why string) {
	for i := range o.pending {
		if o.pending[i].id == id {
			o.pending[i].err = why
		}
	}
}

// takeBack removes the last refused message and returns its text.
func (o *outbox) takeBack() (string, bool) {
	for i := len(o.pending) - 1; i >= 0; i-- {
		if p := o.pending[i]; p.err != "" {
			o.arrived(p.id)
			return p.text, true
		}
	}
	return "", false
}

// waiting is the last message of which nothing was heard, to be withdrawn; nil when
// there is none.
func (o *outbox) waiting() *sent {
	for i := len(o.pending) - 1; i >= 0; i-- {
		if p := &o.pending[i]; p.err == "" && !p.took && !p.back {
			return p
		}
	}
	return nil
}

// stays notes that a message could not be withdrawn.
func (o *outbox) stays(id string) {
	for i := range o.pending {
		if o.pending[i].id == id {
			o.pending[i].back = false
		}
	}
}

// texts are the messages of which it is not known that they were taken.
func (o *outbox) texts() []string {
	var out []string
	for _, p := range o.pending {
		if !p.took {
			out = append(out, p.text)
		}
	}
	return out
}

// Render is one line per message; it can be said of the last one how it is taken
// back.
func (o *outbox) Render(width int, link remote.ConnState) []string {
	var out []string
	back, last := prefixed(" · ", o.look.keys.Hint(keymap.TakeBack, "takes it back")), o.waiting()
	for i := range o.pending {
		p := &o.pending[i]
		text := glimpse(p.text)
		switch {
		case p.err != "":
			out = append(out, o.look.bad.Render(fit(" ✗ not sent: "+oneLine(transcript.Clean(p.err))+back+" · "+text, width)))
		case p.back:
			out = append(out, o.look.dim.Render(fit(" ⇠ being taken back: "+text, width)))
		case link != remote.Connected && p == last:
			out = append(out, o.look.dim.Render(fit(" ⇡ waits for the connection"+back+": "+text, width)))
		case link != remote.Connected:
			out = append(out, o.look.dim.Render(fit(" ⇡ waits for the connection: "+text, width)))
		default:
			out = append(out, o.look.dim.Render(fit(" ⇡ sending: "+text, width)))
		}
	}
	return out
}

// follow takes messages out that an event tells of.
func (o *outbox) follow(e *protocol.Event) {
	if len(o.pending) == 0 {
		return
	}
	switch e.Type {
	case protocol.MessageUser, protocol.QueueAdded:
		o.arrived(decode[protocol.Message](e.Data).ClientMessageID)
	}
}
