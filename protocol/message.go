package protocol

import (
	"encoding/json"
	"time"
)

// Types of the events of messages.
const (
	MessageUser Type = "message.user"
)

var messageEvents = []EventType{
	{
		Type: MessageUser, New: of[MessageUserData], Exported: true,
		reduce: decoded(func(s *State, e *Event, d *MessageUserData) {
			s.Turn = &TurnState{Turn: e.Turn, Message: d.Message, Started: e.Time, First: e.Seq}
			s.Turn.Message.Delivery = ""
			if s.Turn.Message.By == nil {
				s.Turn.Message.By = e.By
			}
		}),
	},
}

// Commands about messages.
const (
	DoSend Verb = "send"
)

var messageCommands = []CommandType{
	{
		Verb: DoSend, Data: of[SendData], Result: of[SendResult], Role: RoleOperator, Session: true, Changes: true,
		Words:    "sending a message",
		Examples: [2]string{`{"text":"x"}`, `{"text":"y"}`},
	},
}

// A Part is a piece of a user's message other than its text: a file, an image, a mention. Type
// names its kind; other fields are kept as received.
type Part struct {
	Type      string          `json:"type"` // text, file, image, …
	Text      string          `json:"text,omitempty"`
	URL       string          `json:"url,omitempty"`
	MediaType string          `json:"media_type,omitempty"`
	Name      string          `json:"name,omitempty"`
	Blob      string          `json:"blob,omitempty"`
	Data      json.RawMessage `json:"data,omitempty"` // foreign fields
}

// A Message is a user's message. It starts a turn or waits in the queue. With Work it starts a turn
// that the agent began itself: By is the agent, and the text is its task, or empty.
type Message struct {
	MessageID       string     `json:"message_id"`
	ClientMessageID string     `json:"client_message_id,omitempty"` // the sender's id of it
	Text            string     `json:"text"`
	Parts           []Part     `json:"parts,omitempty"`
	QueuedAt        *time.Time `json:"queued_at,omitempty"`  // if it was queued
	NotBefore       *time.Time `json:"not_before,omitempty"` // if it was scheduled: when it enters the queue
	Delivery        Delivery   `json:"delivery,omitempty"`   // of a queued message: steer, or absent
	By              *Actor     `json:"by,omitempty"`
	Work            bool       `json:"work,omitempty"` // the agent began the turn itself
}

// Label returns the text, or what stands for it if an agent began to work without a task.
func (m *Message) Label() string {
	if m.Work && m.Text == "" && len(m.Parts) == 0 {
		return "(work without a message)"
	}
	return m.Text
}

// MessageUserData is the data of message.user, the first event of a turn.
type MessageUserData struct{ Message }

// SendData sends a user's message. Text or Parts is required.
type SendData struct {
	Text            string `json:"text"`
	Parts           []Part `json:"parts,omitempty"`
	ClientMessageID string `json:"client_message_id,omitempty"`
	Front           bool   `json:"front,omitempty"` // ahead of the queue
	// Delivery is queue (default) or steer: into the current turn at the agent's next safe point. Where
	// that is not possible, the message is the first of the queue.
	Delivery Delivery `json:"delivery,omitempty"`
	// NotBefore schedules the message: it enters the queue then. Nil or past: now.
	NotBefore *time.Time `json:"not_before,omitempty"`
}

// Statuses of a send.
const (
	SendStarted   = "started"
	SendQueued    = "queued"
	SendScheduled = "scheduled"
	SendSteering  = "steering" // it joins the current turn at the agent's next safe point
)

// SendResult reports that the message's turn started, or that it is queued at Index. Until a message
// with the status steering has joined the turn, it is in the queue, too.
type SendResult struct {
	Status    string `json:"status"`
	MessageID string `json:"message_id"`
	Turn      string `json:"turn,omitempty"`   // when started, or steering
	Index     *int   `json:"index,omitempty"`  // when queued, or steering
	Reason    string `json:"reason,omitempty"` // why a message with delivery steer is queued, for people
	Seq       uint64 `json:"seq,omitempty"`    // of the event that records it
}

// Effects of an interrupt on the queue.
const (
	QueueKeep  = "keep" // the next message starts
	QueueHold  = "hold"
	QueueClear = "clear"
)
