package wire

import (
	"strconv"
	"strings"
)

// EventID returns the permanent id of a frame: its connection and seq.
func EventID(connection string, seq uint64) string {
	return connection + "-" + strconv.FormatUint(seq, 10)
}

// ParseEventID splits an event id. seq is 0 if id is malformed.
func ParseEventID(id string) (connection string, seq uint64) {
	i := strings.LastIndexByte(id, '-')
	if i <= 0 {
		return "", 0
	}
	seq, err := strconv.ParseUint(id[i+1:], 10, 53)
	if err != nil {
		return "", 0
	}
	return id[:i], seq
}

// LastReceived returns the last frame that a reconnecting client received. last_event_id takes
// precedence over last_seq.
func (m *Message) LastReceived() (connection string, seq uint64, found bool) {
	o := ParseObject(m.Content)
	for _, id := range []string{o.Str("last_event_id"), string(m.LastEventID)} {
		if connection, seq = ParseEventID(id); seq > 0 {
			return connection, seq, true
		}
	}
	seq = uint64(o.Int("last_seq"))
	if seq == 0 {
		seq = uint64(m.LastSeq)
	}
	connection = o.Str("connection_id")
	if connection == "" {
		connection = string(m.Connection)
	}
	return connection, seq, seq > 0 || o.Has("last_seq")
}

// AckedSeq returns the seq that a user.ack acknowledges, in any of its forms.
func (m *Message) AckedSeq() uint64 {
	seq := uint64(m.Seq)
	if o := ParseObject(m.Content); o != nil {
		seq = max(seq, uint64(o.Int("last_seq", "seq")))
		if _, n := ParseEventID(o.Str("last_event_id")); n > seq {
			seq = n
		}
		return seq
	}
	var n lenientNumber
	_ = n.UnmarshalJSON(m.Content)
	return max(seq, uint64(n))
}
