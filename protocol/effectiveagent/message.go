package effectiveagent

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// The types of messages: the first three of clients, the last two of servers.
const (
	typeSend        = "send"
	typeSubscribe   = "subscribe"
	typeUnsubscribe = "unsubscribe"
	typeActivity    = "activity"
	typeError       = "error"
)

// A message is any message as received. A field of a wrong type is refused where it is used.
type message struct {
	Type           json.RawMessage `json:"type"`
	AgentRuntimeID json.RawMessage `json:"agentRuntimeId"`
	Metadata       json.RawMessage `json:"metadata"`
	Target         json.RawMessage `json:"targetAgentRuntimeId"`
	Payload        json.RawMessage `json:"payload"`
	Activity       json.RawMessage `json:"activity"`
	Code           json.RawMessage `json:"code"`
	Message        json.RawMessage `json:"message"`
	Details        json.RawMessage `json:"details"`
}

type sendMessage struct {
	Type    string   `json:"type"`
	Target  string   `json:"targetAgentRuntimeId"`
	Payload activity `json:"payload"`
}

type subscribeMessage struct {
	Type           string    `json:"type"`
	AgentRuntimeID string    `json:"agentRuntimeId"`
	Metadata       *metadata `json:"metadata,omitempty"`
}

type activityMessage struct {
	Type           string   `json:"type"`
	AgentRuntimeID string   `json:"agentRuntimeId"`
	Activity       activity `json:"activity"`
}

type errorMessage struct {
	Type    string    `json:"type"`
	Code    errorCode `json:"code"`
	Message string    `json:"message"`
	Details string    `json:"details,omitempty"`
}

// An activity is encoded with the document's fields in order, then the real system's.
type activity struct {
	Sequence       uint64          `json:"sequence"`
	Timestamp      any             `json:"timestamp"` // depends on the form
	Type           string          `json:"type"`
	Payload        json.RawMessage `json:"payload"`
	AgentRuntimeID string          `json:"agentRuntimeId"`
	ID             string          `json:"id,omitempty"`
	Metadata       *metadata       `json:"metadata,omitempty"`
}

type metadata struct {
	Source string `json:"sourceAgentRuntimeId,omitempty"`
	Note   *note  `json:"agentctl,omitempty"`
}

// A note is agentctl's extension of an activity: the event that it carries, or a command and its
// key. agentctl's server answers a command by a note with the id of its activity, and with its
// result or its error. On a subscribe, a note requests the activities after a position, or else the
// session's state; in the answer, it holds the position after which activities follow.
type note struct {
	Event  protocol.Type   `json:"event,omitempty"`
	Turn   string          `json:"turn,omitempty"`
	Task   string          `json:"task,omitempty"`
	Parent string          `json:"parent,omitempty"`
	By     *protocol.Actor `json:"by,omitempty"`

	Command protocol.Verb `json:"command,omitempty"`
	Key     string        `json:"key,omitempty"`

	Answers string          `json:"answers,omitempty"` // the id of the activity with the command
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *protocol.Error `json:"error,omitempty"`

	After     string          `json:"after,omitempty"` // a position
	WantState bool            `json:"whole,omitempty"`
	State     json.RawMessage `json:"state,omitempty"` // the session's state at After
	PastSeq   uint64          `json:"until,omitempty"` // the sequence of the last past activity
}

// A receivedActivity is an activity as received, as far as it can be decoded.
type receivedActivity struct {
	kind       string // the document's type; empty: unknown
	Type       string
	ID         string
	Time       time.Time // zero: unknown
	Payload    json.RawMessage
	Source     string
	Note       note
	raw        json.RawMessage
	unreadable bool // not an object
	relayed    bool // relayed message of another client
}

// decodeActivity decodes an activity. It ignores invalid fields.
func decodeActivity(raw json.RawMessage) receivedActivity {
	var fields struct{ Type, ID, Timestamp, Payload, Metadata json.RawMessage }
	s := receivedActivity{raw: raw}
	if json.Unmarshal(raw, &fields) != nil || codec.IsNull(raw) {
		s.unreadable = true
		return s
	}
	s.Source, s.Note = decodeMetadata(fields.Metadata)
	s.Type, s.ID = codec.String(fields.Type), codec.String(fields.ID)
	s.Time, s.Payload = decodeTime(fields.Timestamp), fields.Payload
	s.kind = decodeKind(s.Type)
	return s
}

// decodeMetadata decodes the source and the note of metadata.
func decodeMetadata(raw json.RawMessage) (source string, n note) {
	var about struct{ SourceAgentRuntimeID, Agentctl json.RawMessage }
	_ = json.Unmarshal(raw, &about)
	if json.Unmarshal(about.Agentctl, &n) != nil {
		n = note{}
	}
	return codec.String(about.SourceAgentRuntimeID), n
}

// decodeTime decodes a time: ISO 8601, or a number of milliseconds.
func decodeTime(raw json.RawMessage) time.Time {
	var ms float64
	if json.Unmarshal(raw, &ms) == nil && ms > 0 && ms < 1<<52 {
		return time.UnixMilli(int64(ms)).UTC()
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if t, err := time.Parse(layout, codec.String(raw)); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// runtimeID decodes the id of an agent runtime.
func runtimeID(raw json.RawMessage) (id string, ok bool) {
	id = codec.String(raw)
	return id, id != "" && len(id) <= maxID
}

func encodeMessage(m any) codec.Frame { return codec.Frame{Data: protocol.MustEncode(m)} }
