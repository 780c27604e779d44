package wire

import (
	"bytes"
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A Message is an incoming frame. A field of the wrong type decodes as absent.
type Message struct {
	Session     lenientString   `json:"session_id"`
	Connection  lenientString   `json:"connection_id"`
	Step        lenientString   `json:"step_id"`
	Event       lenientString   `json:"event"`
	Timestamp   lenientString   `json:"timestamp"`
	Content     json.RawMessage `json:"content"`
	Metadata    json.RawMessage `json:"metadata"`
	Show        lenientString   `json:"show_content"`
	Seq         lenientNumber   `json:"seq"`
	ID          lenientString   `json:"event_id"`
	Signed      json.RawMessage `json:"signed_state"`
	LastSeq     lenientNumber   `json:"last_seq"`
	LastEventID lenientString   `json:"last_event_id"`
}

// DecodeMessage decodes a frame. ok is false if data is not a JSON object or nests too deep for an
// event.
func DecodeMessage(data []byte) (m Message, ok bool) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' {
		return m, false
	}
	if compact, valid := protocol.Compact(data); valid && codec.Shallow(compact) && json.Unmarshal(compact, &m) == nil {
		return m, true
	}
	return m, false
}

// ConnectionID returns the server's id of the connection.
func (m *Message) ConnectionID() string {
	if m.Connection != "" {
		return string(m.Connection)
	}
	return ParseObject(m.Metadata).Str("connection_id")
}

// A lenientString decodes from a string, or from the digits of a number. Other JSON decodes as
// empty.
type lenientString string

// UnmarshalJSON never fails.
func (t *lenientString) UnmarshalJSON(b []byte) error {
	*t = lenientString(Scalar(b))
	return nil
}

// A lenientNumber is a count. It decodes from a number or its digits. Other JSON decodes as 0.
type lenientNumber uint64

// UnmarshalJSON never fails.
func (n *lenientNumber) UnmarshalJSON(b []byte) error {
	*n = 0
	if v := parseFloat(Scalar(b)); v >= 1 && v < 1<<53 {
		*n = lenientNumber(v)
	}
	return nil
}
