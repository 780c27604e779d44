package wire

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
)

// A QueuedMessage is a message in the queue or, in UserMessage, at the start of its turn.
type QueuedMessage struct {
	ID              string          `json:"id"`
	Content         string          `json:"content"`
	Parts           json.RawMessage `json:"parts,omitempty"`
	QueuedAt        string          `json:"queuedAt,omitempty"`
	ClientMessageID string          `json:"clientMessageId,omitempty"`
}

// A TurnContext is the message of the current turn.
type TurnContext struct {
	TurnID          string          `json:"turnId"`
	MessageID       string          `json:"messageId"`
	Content         string          `json:"content"`
	Parts           json.RawMessage `json:"parts,omitempty"`
	ClientMessageID string          `json:"clientMessageId"`
	StartedAt       string          `json:"startedAt"`
}

// A PendingApproval is a tool call that awaits a decision.
type PendingApproval struct {
	ToolCallID string `json:"toolCallId"`
	ToolName   string `json:"toolName"`
}

// Statuses of a session.
const (
	statusIdle      = "idle"
	statusStreaming = "streaming"
)

// A Snapshot is the state of a session.
type Snapshot struct {
	Status        string          `json:"status"`
	ActiveTurnID  *string         `json:"activeTurnId"`
	Queue         []QueuedMessage `json:"queue"`
	HistoryCursor historyCursor   `json:"historyCursor"`
}

// A historyCursor is the last message of the finished turns.
type historyCursor struct {
	LastMessageID *string `json:"lastMessageId"`
	LastMessageAt *string `json:"lastMessageAt"`
}

// FormatTime formats a time as JavaScript does.
func FormatTime(t time.Time) string { return t.UTC().Format(protocol.TimeFormat) }

// ParseTime parses a time; zero if it is missing or malformed.
func ParseTime(s string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, s)
	return t.UTC()
}

// SnapshotOf encodes a state.
func SnapshotOf(s *protocol.State) *Snapshot {
	snap := &Snapshot{Status: statusIdle, Queue: []QueuedMessage{}}
	if s.Turn != nil {
		snap.Status, snap.ActiveTurnID = statusStreaming, &s.Turn.Turn
	}
	for i := range s.Queue {
		snap.Queue = append(snap.Queue, *NewQueuedMessage(&s.Queue[i]))
	}
	if id := s.History.LastMessageID; id != "" {
		snap.HistoryCursor.LastMessageID = &id
	}
	if at := s.History.LastMessageAt; at != nil {
		t := FormatTime(*at)
		snap.HistoryCursor.LastMessageAt = &t
	}
	return snap
}

// NewQueuedMessage encodes a queued message.
func NewQueuedMessage(m *protocol.Message) *QueuedMessage {
	q := &QueuedMessage{ID: m.MessageID, Content: m.Text, Parts: ForeignParts(m), ClientMessageID: m.ClientMessageID}
	if m.QueuedAt != nil {
		q.QueuedAt = FormatTime(*m.QueuedAt)
	} else {
		q.QueuedAt = FormatTime(time.Unix(0, 0))
	}
	return q
}

// NewStartedMessage encodes a message whose turn starts. The protocol's schema requires a
// clientMessageId.
func NewStartedMessage(m *protocol.Message) *QueuedMessage {
	q := &QueuedMessage{ID: m.MessageID, Content: m.Text, Parts: ForeignParts(m), ClientMessageID: m.ClientMessageID}
	if q.ClientMessageID == "" {
		q.ClientMessageID = m.MessageID
	}
	return q
}

// Message decodes a message. A clientMessageId equal to the id is dropped.
func (q *QueuedMessage) Message() protocol.Message {
	m := protocol.Message{
		MessageID: q.ID, ClientMessageID: q.ClientMessageID, Text: q.Content, Parts: NativeParts(q.Content, q.Parts),
	}
	if m.ClientMessageID == m.MessageID {
		m.ClientMessageID = ""
	}
	if at := ParseTime(q.QueuedAt); !at.IsZero() && at.Unix() != 0 {
		m.QueuedAt = &at
	}
	return m
}

// NativeState returns the state of a snapshot, without the current turn.
func (snap *Snapshot) NativeState() *protocol.State {
	st := &protocol.State{}
	for i := range snap.Queue {
		st.Queue = append(st.Queue, snap.Queue[i].Message())
	}
	if last := snap.HistoryCursor.LastMessageID; last != nil {
		st.History.LastMessageID = *last
	}
	if at := snap.HistoryCursor.LastMessageAt; at != nil && !ParseTime(*at).IsZero() {
		t := ParseTime(*at)
		st.History.LastMessageAt = &t
	}
	return st
}

// LastMessage returns the last message of the finished turns, or "".
func (snap *Snapshot) LastMessage() string {
	if id := snap.HistoryCursor.LastMessageID; id != nil {
		return *id
	}
	return ""
}
