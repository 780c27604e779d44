package sandcastle

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
)

// Tags of session events.
const (
	initialState    = "InitialState"
	sessionStarted  = "SessionStarted"
	sessionStopped  = "SessionStopped"
	streamEvent     = "StreamEvent"
	messageQueued   = "MessageQueued"
	messageDequeued = "MessageDequeued"
	userMessage     = "UserMessage"
	sessionDeleted  = "SessionDeleted"
)

// A sessionEvent is an event of a subscription. The tag determines its fields.
type sessionEvent struct {
	Tag              string            `json:"_tag"`
	Snapshot         *snapshot         `json:"snapshot,omitempty"`
	Buffer           []json.RawMessage `json:"buffer,omitzero"` // chat events
	TurnContext      *turnContext      `json:"turnContext,omitempty"`
	PendingApprovals []pendingApproval `json:"pendingApprovals,omitempty"`

	TurnID    string          `json:"turnId,omitzero"`
	MessageID string          `json:"messageId,omitempty"`
	StartedAt string          `json:"startedAt,omitempty"`
	Reason    string          `json:"reason,omitempty"`
	Event     json.RawMessage `json:"event,omitempty"`   // a chat event
	Message   *queuedMessage  `json:"message,omitempty"` // QueuedAt: of MessageQueued only
	SessionID string          `json:"sessionId,omitempty"`
}

// A turnEvent is the event StreamEvent. The real client requires a turnId: it is empty between
// turns.
type turnEvent struct {
	Tag    string          `json:"_tag"`
	TurnID string          `json:"turnId"`
	Event  json.RawMessage `json:"event"`
}

// Reasons of SessionStopped.
const (
	stopCompleted   = "completed"
	stopInterrupted = "interrupted"
	stopError       = "error"
)

// A queuedMessage is a message in the queue or, in UserMessage, at the start of its turn.
type queuedMessage struct {
	ID              string          `json:"id"`
	Content         string          `json:"content"`
	Parts           json.RawMessage `json:"parts,omitempty"`
	QueuedAt        string          `json:"queuedAt,omitempty"`
	ClientMessageID string          `json:"clientMessageId,omitempty"`
}

// A turnContext is the message of the current turn.
type turnContext struct {
	TurnID          string          `json:"turnId"`
	MessageID       string          `json:"messageId"`
	Content         string          `json:"content"`
	Parts           json.RawMessage `json:"parts,omitempty"`
	ClientMessageID string          `json:"clientMessageId"`
	StartedAt       string          `json:"startedAt"`
}

// A pendingApproval is a tool call that awaits a decision.
type pendingApproval struct {
	ToolCallID string `json:"toolCallId"`
	ToolName   string `json:"toolName"`
}

// Statuses of a session.
const (
	statusIdle      = "idle"
	statusStreaming = "streaming"
)

// A snapshot is the state of a session.
type snapshot struct {
	Status        string          `json:"status"`
	ActiveTurnID  *string         `json:"activeTurnId"`
	Queue         []queuedMessage `json:"queue"`
	HistoryCursor historyCursor   `json:"historyCursor"`
}

// A historyCursor is the last message of the finished turns.
type historyCursor struct {
	LastMessageID *string `json:"lastMessageId"`
	LastMessageAt *string `json:"lastMessageAt"`
}

// formatTime formats a time as JavaScript does.
func formatTime(t time.Time) string { return t.UTC().Format(protocol.TimeFormat) }

// parseTime parses a time; zero if it is missing or malformed.
func parseTime(s string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, s)
	return t.UTC()
}

// snapshotOf encodes a state.
func snapshotOf(s *protocol.State) *snapshot {
	snap := &snapshot{Status: statusIdle, Queue: []queuedMessage{}}
	if s.Turn != nil {
		snap.Status, snap.ActiveTurnID = statusStreaming, &s.Turn.Turn
	}
	for i := range s.Queue {
		snap.Queue = append(snap.Queue, *newQueuedMessage(&s.Queue[i]))
	}
	if id := s.History.LastMessageID; id != "" {
		snap.HistoryCursor.LastMessageID = &id
	}
	if at := s.History.LastMessageAt; at != nil {
		t := formatTime(*at)
		snap.HistoryCursor.LastMessageAt = &t
	}
	return snap
}

// newQueuedMessage encodes a queued message.
func newQueuedMessage(m *protocol.Message) *queuedMessage {
	q := &queuedMessage{ID: m.MessageID, Content: m.Text, Parts: foreignParts(m), ClientMessageID: m.ClientMessageID}
	if m.QueuedAt != nil {
		q.QueuedAt = formatTime(*m.QueuedAt)
	} else {
		q.QueuedAt = formatTime(time.Unix(0, 0))
	}
	return q
}

// newStartedMessage encodes a message whose turn starts. The protocol's schema requires a
// clientMessageId.
func newStartedMessage(m *protocol.Message) *queuedMessage {
	q := &queuedMessage{ID: m.MessageID, Content: m.Text, Parts: foreignParts(m), ClientMessageID: m.ClientMessageID}
	if q.ClientMessageID == "" {
		q.ClientMessageID = m.MessageID
	}
	return q
}

// message decodes a message. A clientMessageId equal to the id is none.
func (q *queuedMessage) message() protocol.Message {
	m := protocol.Message{
		MessageID: q.ID, ClientMessageID: q.ClientMessageID, Text: q.Content, Parts: nativeParts(q.Content, q.Parts),
	}
	if m.ClientMessageID == m.MessageID {
		m.ClientMessageID = ""
	}
	if at := parseTime(q.QueuedAt); !at.IsZero() && at.Unix() != 0 {
		m.QueuedAt = &at
	}
	return m
}
