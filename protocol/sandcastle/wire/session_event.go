package wire

import (
	"encoding/json"
)

// Tags of session events.
const (
	InitialState    = "InitialState"
	SessionStarted  = "SessionStarted"
	SessionStopped  = "SessionStopped"
	StreamEvent     = "StreamEvent"
	MessageQueued   = "MessageQueued"
	MessageDequeued = "MessageDequeued"
	UserMessage     = "UserMessage"
	SessionDeleted  = "SessionDeleted"
)

// A SessionEvent is an event of a subscription. The tag determines its fields.
type SessionEvent struct {
	Tag              string            `json:"_tag"`
	Snapshot         *Snapshot         `json:"snapshot,omitempty"`
	Buffer           []json.RawMessage `json:"buffer,omitzero"` // chat events
	TurnContext      *TurnContext      `json:"turnContext,omitempty"`
	PendingApprovals []PendingApproval `json:"pendingApprovals,omitempty"`

	TurnID    string          `json:"turnId,omitzero"`
	MessageID string          `json:"messageId,omitempty"`
	StartedAt string          `json:"startedAt,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Event     json.RawMessage `json:"event,omitempty"`   // a chat event
	Message   *QueuedMessage  `json:"message,omitempty"` // QueuedAt: of MessageQueued only
	SessionID string          `json:"sessionId,omitempty"`
}

// A TurnEvent is the event StreamEvent. The real client requires a turnId: it is empty between
// turns.
type TurnEvent struct {
	Tag    string          `json:"_tag"`
	TurnID string          `json:"turnId"`
	Event  json.RawMessage `json:"event"`
}
