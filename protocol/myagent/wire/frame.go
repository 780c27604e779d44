package wire

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
)

// ConfirmStep returns the step_id of an approval's confirmation.
func ConfirmStep(a *protocol.Approval) string {
	if a.Kind == protocol.ApprovePlan {
		return "confirm_plan_" + a.Request
	}
	return "confirm_" + a.Request
}

// A Frame is an outgoing message of the protocol.
type Frame struct {
	Session    string          `json:"session_id,omitempty"`
	Connection string          `json:"connection_id,omitempty"`
	Step       any             `json:"step_id,omitempty"` // a string, or null
	Event      string          `json:"event"`
	Time       time.Time       `json:"-"` // zero: now
	Timestamp  string          `json:"timestamp"`
	Content    any             `json:"content,omitempty"`
	Meta       Meta            `json:"metadata,omitempty"`
	Show       any             `json:"show_content,omitempty"` // a string
	Seq        uint64          `json:"seq,omitempty"`
	ID         string          `json:"event_id,omitempty"`
	Signed     json.RawMessage `json:"signed_state,omitempty"`
}

// Meta is a frame's structured metadata or content.
type Meta map[string]any

// Null is a field that is present and empty.
var Null = json.RawMessage("null")

// StepID returns a step id as a frame has it: no field if it is empty.
func StepID(id string) any {
	if id == "" {
		return nil
	}
	return id
}

// Encode returns the frame as JSON.
func (f *Frame) Encode(now time.Time) []byte {
	at := f.Time
	if at.IsZero() {
		at = now
	}
	f.Timestamp = at.UTC().Format(protocol.TimeFormat)
	return protocol.MustEncode(f)
}

// Seconds converts milliseconds to the seconds of the protocol.
func Seconds(ms int64) float64 { return float64(ms) / 1000 }

// With sets a key unless the value is empty, and returns m.
func (m Meta) With(key string, value any) Meta {
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

// Bounds in bytes. MyAgent's clients accept messages of 1 MiB.
const (
	MaxAnswer = 256 << 10 // the final answer
	MaxSigned = 768 << 10 // a signed state, which a client must be able to send back

	maxDisplayText = 512
)

// DefaultStateTTL is the lifetime of an exported state.
const DefaultStateTTL = 7 * 24 * time.Hour

// Shorten bounds a display text.
func Shorten(s string) string {
	if len(s) <= maxDisplayText {
		return s
	}
	return protocol.SplitText(s, maxDisplayText)[0] + "…"
}
