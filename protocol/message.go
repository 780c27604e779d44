package protocol

import (
	"encoding/json"
	"time"
)

// A Part is a piece of a user's message besides its text: a file, an image, a mention. Type names
// its kind; other fields are kept as received.
type Part struct {
	Type      string          `json:"type"` // text, file, image, …
	Text      string          `json:"text,omitempty"`
	URL       string          `json:"url,omitempty"`
	MediaType string          `json:"media_type,omitempty"`
	Name      string          `json:"name,omitempty"`
	Blob      string          `json:"blob,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"` // foreign fields
}

// A Message is a user's message. It starts a turn or waits in the queue.
type Message struct {
	MessageID       string     `json:"message_id"`
	ClientMessageID string     `json:"client_message_id,omitempty"` // the sender's id of it
	Text            string     `json:"text"`
	Parts           []Part     `json:"parts,omitempty"`
	QueuedAt        *time.Time `json:"queued_at,omitempty"`  // if it was queued
	NotBefore       *time.Time `json:"not_before,omitempty"` // if it was scheduled: when it enters the queue
	By              *Actor     `json:"by,omitempty"`
}

// MessageUserData is the data of message.user, the first event of a turn.
type MessageUserData struct{ Message }

// A Reason is the reason of a turn's end.
type Reason string

// The reasons.
const (
	ReasonCompleted   Reason = "completed"
	ReasonInterrupted Reason = "interrupted"
	ReasonError       Reason = "error"
	ReasonTimeout     Reason = "timeout"
	ReasonMaxTokens   Reason = "max_tokens"
	ReasonMaxRequests Reason = "max_requests"
	ReasonRefusal     Reason = "refusal"
	ReasonBudget      Reason = "budget" // a limit of cost
	ReasonDenied      Reason = "denied" // deny_stop
)

// TurnStartedData is the data of turn.started.
type TurnStartedData struct {
	MessageID string `json:"message_id"`
	Agent     string `json:"agent,omitempty"`
	Resumed   bool   `json:"resumed,omitempty"` // the agent continues a turn that a restart interrupted
}

// TurnEndedData is the data of turn.ended.
type TurnEndedData struct {
	Reason     Reason `json:"reason"`
	Code       Code   `json:"code,omitempty"`    // with reason error
	Message    string `json:"message,omitempty"` // for people
	Usage      *Usage `json:"usage,omitempty"`
	DurationMS int64  `json:"duration_ms"`
}

// Failed reports whether the turn ended for a reason other than completed or interrupted.
func (d *TurnEndedData) Failed() bool {
	switch d.Reason {
	case ReasonCompleted, ReasonInterrupted, ReasonDenied:
		return false
	}
	return true
}
