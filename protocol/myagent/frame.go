package myagent

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A frame is an outgoing message of the protocol.
type frame struct {
	Session    string          `json:"session_id,omitempty"`
	Connection string          `json:"connection_id,omitempty"`
	Step       any             `json:"step_id,omitempty"` // a string, or null
	Event      string          `json:"event"`
	Time       time.Time       `json:"-"` // zero: now
	Timestamp  string          `json:"timestamp"`
	Content    any             `json:"content,omitempty"`
	Meta       meta            `json:"metadata,omitempty"`
	Show       any             `json:"show_content,omitempty"` // a string
	Seq        uint64          `json:"seq,omitempty"`
	ID         string          `json:"event_id,omitempty"`
	Signed     json.RawMessage `json:"signed_state,omitempty"`
}

// meta is a frame's structured metadata or content.
type meta map[string]any

// null is a field that is present and empty.
var null = json.RawMessage("null")

// stepID returns a step id as a frame has it: no field if it is empty.
func stepID(id string) any {
	if id == "" {
		return nil
	}
	return id
}

// encode returns the frame as JSON.
func (f *frame) encode(now time.Time) []byte {
	at := f.Time
	if at.IsZero() {
		at = now
	}
	f.Timestamp = at.UTC().Format(protocol.TimeFormat)
	return protocol.MustEncode(f)
}

// A message is an incoming frame. A field of the wrong type decodes as absent.
type message struct {
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

// decodeMessage decodes a frame. ok is false if data is no JSON object or nests too deep for an
// event.
func decodeMessage(data []byte) (m message, ok bool) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' {
		return m, false
	}
	if compact, valid := protocol.Compact(data); valid && codec.Shallow(compact) && json.Unmarshal(compact, &m) == nil {
		return m, true
	}
	return m, false
}

// A lenientString decodes from a string, or from the digits of a number. Other JSON decodes as
// empty.
type lenientString string

// UnmarshalJSON never fails.
func (t *lenientString) UnmarshalJSON(b []byte) error {
	*t = lenientString(scalarText(b))
	return nil
}

// A lenientNumber is a count. It decodes from a number or its digits. Other JSON decodes as 0.
type lenientNumber uint64

// UnmarshalJSON never fails.
func (n *lenientNumber) UnmarshalJSON(b []byte) error {
	*n = 0
	if v := parseFloat(scalarText(b)); v >= 1 && v < 1<<53 {
		*n = lenientNumber(v)
	}
	return nil
}

func parseFloat(s string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

// scalarText returns the text of a JSON string, number or boolean, and "" for other JSON.
func scalarText(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '"':
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return s
		}
		return ""
	case '{', '[', 'n':
		return ""
	}
	return string(raw)
}

// contentText returns the text of a content: a string as it is, the text, content, message or error
// field of an object, or else the JSON.
func contentText(raw json.RawMessage) string {
	if len(raw) == 0 || raw[0] == 'n' {
		return ""
	}
	if raw[0] != '{' && raw[0] != '[' {
		return scalarText(raw)
	}
	o := parseObject(raw)
	for _, key := range []string{"text", "content", "message", "error"} {
		if s := scalarText(o[key]); s != "" {
			return s
		}
	}
	if len(o) == 0 && raw[0] == '{' {
		return ""
	}
	return string(raw)
}

// fields are the members of a JSON object.
type fields map[string]json.RawMessage

// parseObject decodes an object; nil if raw is none.
func parseObject(raw json.RawMessage) fields {
	var o fields
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

// str returns the first non-empty field among names.
func (o fields) str(names ...string) string {
	for _, name := range names {
		if s := scalarText(o[name]); s != "" {
			return s
		}
	}
	return ""
}

// has reports whether a field is present and not null.
func (o fields) has(name string) bool { return len(o[name]) > 0 && o[name][0] != 'n' }

// num returns the first positive number among names.
func (o fields) num(names ...string) float64 {
	for _, name := range names {
		if v := parseFloat(scalarText(o[name])); v > 0 && v < 1<<53 {
			return v
		}
	}
	return 0
}

func (o fields) int(names ...string) int64 { return int64(o.num(names...)) }

// ms returns a number of seconds in milliseconds.
func (o fields) ms(names ...string) int64 {
	if s := o.num(names...); s < 1<<43 {
		return int64(math.Round(s * 1000))
	}
	return 0
}

// decode decodes a field into v and reports whether it fits.
func (o fields) decode(name string, v any) bool {
	return o.has(name) && json.Unmarshal(o[name], v) == nil
}

// seconds converts milliseconds to the seconds of the protocol.
func seconds(ms int64) float64 { return float64(ms) / 1000 }

// with sets a key unless the value is empty, and returns m.
func (m meta) with(key string, value any) meta {
	switch v := value.(type) {
	case string:
		if v == "" {
			return m
		}
	case int64:
		if v == 0 {
			return m
		}
	case int:
		if v == 0 {
			return m
		}
	case float64:
		if v == 0 {
			return m
		}
	case bool:
		if !v {
			return m
		}
	case json.RawMessage:
		if len(v) == 0 {
			return m
		}
	}
	m[key] = value
	return m
}
