package protocol

import (
	"slices"
	"time"
)

// Types of the events of the queue.
const (
	QueueAdded     Type = "queue.added"
	QueueScheduled Type = "queue.scheduled"
	QueueUpdated   Type = "queue.updated"
	QueueRemoved   Type = "queue.removed"
	QueueMoved     Type = "queue.moved"
	QueueHeld      Type = "queue.held"
	QueueReleased  Type = "queue.released"
)

var queueEvents = []EventType{
	{Type: QueueAdded, New: of[QueueAddedData], reduce: decoded((*State).addToQueue)},
	{Type: QueueScheduled, New: of[QueueScheduledData], reduce: decoded((*State).schedule)},
	{Type: QueueUpdated, New: of[QueueUpdatedData], reduce: decoded((*State).updateInQueue)},
	{Type: QueueRemoved, New: of[QueueRemovedData], reduce: decoded((*State).removeFromQueue)},
	{Type: QueueMoved, New: of[QueueMovedData], reduce: decoded((*State).moveInQueue)},
	{
		Type: QueueHeld, New: of[Hold],
		reduce: decoded(func(s *State, _ *Event, d *Hold) { s.Holds = append(s.Holds, *d) }),
	},
	{
		Type: QueueReleased, New: of[QueueReleasedData],
		reduce: decoded(func(s *State, _ *Event, d *QueueReleasedData) {
			s.Holds = slices.DeleteFunc(s.Holds, func(h Hold) bool { return slices.Contains(d.Holds, h.ID) })
		}),
	},
}

// Commands about the queue.
const (
	DoQueueEdit    Verb = "queue.edit"
	DoQueueRemove  Verb = "queue.remove"
	DoQueueMove    Verb = "queue.move"
	DoQueueHold    Verb = "queue.hold"
	DoQueueRelease Verb = "queue.release"
)

var queueCommands = []CommandType{
	{
		Verb: DoQueueEdit, Data: of[QueueEditData], Result: of[Empty],
		Role: RoleOperator, Session: true, Changes: true,
		Words:    "editing a queued message",
		Examples: [2]string{`{"message_id":"m_1","text":"x"}`, `{"message_id":"m_1","text":"y"}`},
		Routes: []Route{
			{
				Name: "editQueued", Method: "PUT", Path: "/api/sessions/{id}/queue/{message_id}",
				Summary: "Replace a queued message.",
			},
		},
	},
	{
		Verb: DoQueueRemove, Data: of[QueueRemoveData], Result: of[QueueRemoveResult],
		Role: RoleOperator, Session: true, Changes: true,
		Words:    "removing a queued message",
		Examples: [2]string{`{"message_id":"m_1"}`, `{"message_id":"m_2"}`},
		Routes: []Route{
			{
				Name: "removeQueued", Method: "DELETE", Path: "/api/sessions/{id}/queue/{message_id}",
				Summary: "Remove a queued message.", Query: true,
			},
		},
	},
	{
		Verb: DoQueueMove, Data: of[QueueMoveData], Result: of[Empty],
		Role: RoleOperator, Session: true, Changes: true,
		Words:    "moving a queued message",
		Examples: [2]string{`{"message_id":"m_1","index":2}`, `{"message_id":"m_1","index":1}`},
		Routes: []Route{
			{
				Name: "moveQueued", Method: "POST", Path: "/api/sessions/{id}/queue/{message_id}/move",
				Summary: "Move a queued message.",
			},
		},
	},
	{
		Verb: DoQueueHold, Data: of[QueueHoldData], Result: of[QueueHoldResult],
		Role: RoleOperator, Session: true, Changes: true,
		Words:    "holding the queue",
		Examples: [2]string{"{}", `{"message_id":"m_1"}`},
		Routes: []Route{
			{
				Name: "holdQueued", Method: "POST", Path: "/api/sessions/{id}/queue/{message_id}/hold",
				Summary: "Hold a queued message for 30 s while you edit it.",
			},
			{
				Name: "holdQueue", Method: "POST", Path: "/api/sessions/{id}/queue/hold",
				Summary: "Hold the queue.", Fixed: map[string]string{"message_id": `""`},
			},
		},
	},
	{
		Verb: DoQueueRelease, Data: of[QueueReleaseData], Result: of[QueueReleaseResult],
		Role: RoleOperator, Session: true, Changes: true,
		Words:    "releasing the queue",
		Examples: [2]string{"{}", `{"hold":"h_1"}`},
		Routes: []Route{
			{
				Name: "releaseQueue", Method: "POST", Path: "/api/sessions/{id}/queue/release",
				Summary: "Lift one hold of the queue, or all.",
			},
		},
	},
}

// QueueAddedData is the data of queue.added. Index counts from the front; absent: at the end.
type QueueAddedData struct {
	Message
	Index *int `json:"index,omitempty"`
}

// QueueScheduledData is the data of queue.scheduled: a message that enters the queue at its
// NotBefore, with queue.added.
type QueueScheduledData struct{ Message }

// QueueUpdatedData is the data of queue.updated: the message's new text and parts.
type QueueUpdatedData struct {
	MessageID string `json:"message_id"`
	Text      string `json:"text"`
	Parts     []Part `json:"parts,omitempty"`
}

// Reasons of queue.removed.
const (
	RemovedStarted = "started" // its turn started
	RemovedSteered = "steered" // it joined the current turn
	RemovedUser    = "removed"
	RemovedCleared = "cleared" // by an interrupt that clears
)

// QueueRemovedData is the data of queue.removed.
type QueueRemovedData struct {
	MessageID string `json:"message_id"`
	Reason    string `json:"reason"`
}

// QueueMovedData is the data of queue.moved: the message's new index from the front, and its
// delivery from now on.
type QueueMovedData struct {
	MessageID string   `json:"message_id"`
	Index     int      `json:"index"`
	Delivery  Delivery `json:"delivery,omitempty"`
}

// Reasons of a hold.
const (
	HoldEdit      = "edit"
	HoldInterrupt = "interrupt"
	HoldRestart   = "restart"
	HoldUser      = "user"
	HoldDenyStop  = "deny_stop"
	HoldLimit     = "limit" // a usage limit ended a turn
)

// A Hold stops the queue, the data of queue.held. An edit hold names one message and applies only
// while that message is next. A hold after a usage limit names the message with which the session
// continues, if there is one.
type Hold struct {
	ID        string `json:"id"`
	Reason    string `json:"reason"`
	MessageID string `json:"message_id,omitempty"`
	By        *Actor `json:"by,omitempty"`

	ResetsAt *time.Time `json:"resets_at,omitempty"` // of the usage limit, if known
	Until    *time.Time `json:"until,omitempty"`     // when the server releases it; absent: a user does
}

// QueueReleasedData is the data of queue.released: the lifted holds.
type QueueReleasedData struct {
	Holds []string `json:"holds"`
}

// QueueEditData replaces a queued message's text and parts, and lifts the caller's edit hold on it.
type QueueEditData struct {
	MessageID string `json:"message_id"`
	Text      string `json:"text"`
	Parts     []Part `json:"parts,omitempty"`
}

// QueueRemoveData removes a queued message.
type QueueRemoveData struct {
	MessageID string `json:"message_id"`
}

// QueueRemoveResult reports whether the message was queued.
type QueueRemoveResult struct {
	Removed bool `json:"removed"`
}

// QueueMoveData moves a message to an index from the front.
type QueueMoveData struct {
	MessageID string `json:"message_id"`
	Index     int    `json:"index"`
}

// QueueHoldData holds the queue. With MessageID it holds only that message, with the reason edit,
// until 30 s after the connection closed.
type QueueHoldData struct {
	MessageID string `json:"message_id,omitempty"`
}

// QueueHoldResult names the hold.
type QueueHoldResult struct {
	Hold string `json:"hold"`
}

// QueueReleaseData lifts one hold, or all except edit holds of other users.
type QueueReleaseData struct {
	Hold string `json:"hold,omitempty"`
}

// QueueReleaseResult lists the lifted holds.
type QueueReleaseResult struct {
	Released []string `json:"released"`
}

func (s *State) addToQueue(_ *Event, d *QueueAddedData) {
	i := len(s.Queue)
	if d.Index != nil {
		i = max(0, min(*d.Index, i))
	}
	s.Queue = slices.Insert(s.Queue, i, d.Message)
	s.unschedule(d.MessageID)
}

func (s *State) updateInQueue(_ *Event, d *QueueUpdatedData) {
	if i := s.QueueIndex(d.MessageID); i >= 0 {
		s.Queue[i].Text, s.Queue[i].Parts = d.Text, d.Parts
	}
	if i := s.ScheduledIndex(d.MessageID); i >= 0 {
		s.Scheduled[i].Text, s.Scheduled[i].Parts = d.Text, d.Parts
	}
}

// schedule keeps the scheduled messages in the order of their times.
func (s *State) schedule(_ *Event, d *QueueScheduledData) {
	if d.NotBefore == nil {
		return
	}
	i := slices.IndexFunc(s.Scheduled, func(m Message) bool { return m.NotBefore.After(*d.NotBefore) })
	if i < 0 {
		i = len(s.Scheduled)
	}
	s.Scheduled = slices.Insert(s.Scheduled, i, d.Message)
}

func (s *State) unschedule(message string) {
	if i := s.ScheduledIndex(message); i >= 0 {
		s.Scheduled = slices.Delete(s.Scheduled, i, i+1)
	}
}

func (s *State) removeFromQueue(_ *Event, d *QueueRemovedData) {
	s.unschedule(d.MessageID)
	if i := s.QueueIndex(d.MessageID); i >= 0 {
		s.Queue = slices.Delete(s.Queue, i, i+1)
	}
	s.cancelUntil(d.MessageID)
	// An edit hold ends with its message.
	s.Holds = slices.DeleteFunc(s.Holds, func(h Hold) bool {
		return h.Reason == HoldEdit && h.MessageID == d.MessageID
	})
}

func (s *State) moveInQueue(_ *Event, d *QueueMovedData) {
	i := s.QueueIndex(d.MessageID)
	if i < 0 {
		return
	}
	m := s.Queue[i]
	m.Delivery = d.Delivery
	s.Queue = slices.Delete(s.Queue, i, i+1)
	s.Queue = slices.Insert(s.Queue, max(0, min(d.Index, len(s.Queue))), m)
}
