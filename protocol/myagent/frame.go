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

// A frame is one message of the foreign protocol, on its way out.
type frame struct {
	Session    string          `json:"session_id,omitempty"`
	Connection string          `json:"connection_id,omitempty"`
	Step       string          `json:"step_id,omitempty"`
	Event      string          `json:"event"`
	Time       time.Time       `json:"-"` // zero: now
	Timestamp  string          `json:"timestamp"`
	Content    any             `json:"content,omitempty"`
	Meta       meta            `json:"metadata,omitempty"`
	Show       string          `json:"show_content,omitempty"`
	Seq        uint64          `json:"seq,omitempty"`
	ID         string          `json:"event_id,omitempty"`
	Signed     json.RawMessage `json:"signed_state,omitempty"`
}

// meta is a frame's structured data.
type meta map[string]any

// null is a content that is there and holds nothing.
var null = json.RawMessage("null")

// encode writes the frame.
func (f *frame) encode(now time.Time) []byte {
	at := f.Time
	if at.IsZero() {
		at = now
	}
	f.Timestamp = at.UTC().Format(protocol.TimeFormat)
	return protocol.MustEncode(f)
}

// A message is a frame that came in: whatever is of another type than it should be is as if it were not there.
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

// decode reads a frame; ok is false when it is no JSON object, or one that nests too deep to be kept in an event.
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

// when is the frame's own time, or now. Times without a zone are taken as UTC.
func (m *message) sentAt(now time.Time) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, string(m.Timestamp)); err == nil && t.Year() > 1970 && t.Year() < 3000 {
			return t
		}
	}
	return now
}

// text is a string, leniently read: a number is its digits, all else is empty.
type lenientString string

// UnmarshalJSON never fails.
func (t *lenientString) UnmarshalJSON(b []byte) error {
	*t = lenientString(scalarText(b))
	return nil
}

// number is a count, leniently read: from a number or its digits, all else is 0.
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

// plain returns what a JSON string, number or boolean says; empty for all else.
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

// words returns what a content says: a string itself, of an object its text, content, message or error, else its JSON.
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

// fields are the members of an object.
type fields map[string]json.RawMessage

// object reads an object; nil when raw is none.
func parseObject(raw json.RawMessage) fields {
	var o fields
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &o) != nil {
		return nil
	}
	return o
}

// str returns the first of the named fields that says something.
func (o fields) str(names ...string) string {
	for _, name := range names {
		if s := scalarText(o[name]); s != "" {
			return s
		}
	}
	return ""
}

// has reports whether a field is there and not null.
func (o fields) has(name string) bool { return len(o[name]) > 0 && o[name][0] != 'n' }

// num returns the first of the named fields that is a positive number.
func (o fields) num(names ...string) float64 {
	for _, name := range names {
		if v := parseFloat(scalarText(o[name])); v > 0 && v < 1<<53 {
			return v
		}
	}
	return 0
}

func (o fields) int(names ...string) int64 { return int64(o.num(names...)) }

// ms returns a number of seconds as milliseconds.
func (o fields) ms(names ...string) int64 {
	if s := o.num(names...); s < 1<<43 {
		return int64(math.Round(s * 1000))
	}
	return 0
}

// into reads a field into v, if it fits.
func (o fields) decode(name string, v any) bool {
	return o.has(name) && json.Unmarshal(o[name], v) == nil
}

// seconds are milliseconds as MyAgent writes them.
func seconds(ms int64) float64 { return float64(ms) / 1000 }

// with sets what is not empty.
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
