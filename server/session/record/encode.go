package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"agentctl/protocol"
)

// Bounds in bytes.
const (
	Envelope = 4 << 10                      // room for the fields of an event beside its data
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
