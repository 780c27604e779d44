package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"

	"agentctl/protocol"
)

// An Event is an event that a session makes itself and has not recorded yet. Data has the type
// listed in protocol.EventTypes.
type Event struct {
	Type   protocol.Type
	Task   string          // of the plan; empty: of none
	Parent string          // the tool call that it belongs to; empty: none
	By     *protocol.Actor // nil: no user caused it
	Data   any
}

// Time returns a time as stored in the log: UTC, in milliseconds.
func Time(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// Ephemeral encodes an event without a seq.
func Ephemeral(typ protocol.Type, session string, data any) []byte {
	e := protocol.Event{Session: session, Type: typ, Time: time.Now(), Data: protocol.MustEncode(data)}
	return e.AppendJSON(nil)
}

// Bounds in bytes.
const (
	Envelope = 4 << 10                      // room for the fields of an event other than its data
	MaxData  = protocol.MaxEvent - Envelope // of the data of an event

	MaxActor = 512 // of an actor's name and subject, which are stored in every event that it causes

	LongText  = 8 << 10 // a longer text is truncated in an event that is too large
	ShortText = 2 << 10 // kept of a truncated text
)

// Encode returns v as compact JSON in valid UTF-8, foreign JSON within it included. A nil v has no
// encoding.
func Encode(v any) (json.RawMessage, error) {
	if v == nil {
		return nil, nil
	}
	raw, err := protocol.Encode(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	if !utf8.Valid(raw) { // in foreign JSON
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	return raw, nil
}

// Size returns the encoded size of a list in bytes. It stops counting above the limit.
func Size[T any](list []T, limit int64) (n int64) {
	for i := range list {
		raw, _ := Encode(list[i])
		n += int64(len(raw))
		if n > limit {
			break
		}
	}
	return n
}
