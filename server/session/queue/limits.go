package queue

import (
	"agentctl/protocol"
	"agentctl/server/session/record"
)

// Limits bound a queue, its scheduled messages included.
type Limits struct {
	Messages int   // and holds
	Bytes    int64 // of all messages, encoded
}

// Check returns an error with the code queue_full if the queue, the scheduled messages, those that the agent
// may yet refuse, and m are over the limits. A message with the id of m counts as m.
func (l Limits) Check(st *protocol.State, m *protocol.Message) error {
	count, bytes := 1, messageSize(m)
	for _, list := range [][]protocol.Message{st.Queue, st.Scheduled, st.Turn.Sent()} {
		for i := range list {
			if q := &list[i]; q.MessageID != m.MessageID {
				count++
				bytes += messageSize(q)
			}
		}
	}
	if count > l.Messages {
		return protocol.Exceeded(protocol.CodeQueueFull, l.Messages,
			"the queue is full: wait, or remove messages from it")
	}
	if bytes > l.Bytes {
		return protocol.Exceeded(protocol.CodeQueueFull, l.Bytes,
			"the messages in the queue are too large together: wait, or remove messages from it")
	}
	return nil
}

// messageSize returns an upper bound of the encoded size of a message in bytes, at little cost.
func messageSize(m *protocol.Message) int64 {
	n := record.Envelope + textSize(m.Text)
	for i := range m.Parts {
		p := &m.Parts[i]
		n += textSize(p.Text) + textSize(p.URL) + textSize(p.Name) + textSize(p.MediaType) + len(p.Data) + 256
	}
	return int64(n)
}

// textSize returns an upper bound of the encoded size of a text in bytes.
func textSize(s string) int {
	n := len(s)
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c == 0xe2 {
			n += len(`\u0000`) - 1
		}
	}
	return n
}

// Sanitize makes a user's message valid UTF-8. A message too large for an event is refused with
// too_large.
func Sanitize(m *protocol.Message) error {
	m.Text, m.ClientMessageID = protocol.ValidText(m.Text), protocol.ValidText(m.ClientMessageID)
	raw, err := record.Encode(m)
	if err != nil {
		return protocol.Errorf(protocol.CodeInvalidMessage, "parts: not JSON")
	}
	if len(raw) > record.MaxData {
		return protocol.Exceeded(protocol.CodeTooLarge, record.MaxData,
			"message too long: put large content into a file that the agent can read")
	}
	return nil
}
