package protocol

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
	RemovedUser    = "removed"
	RemovedCleared = "cleared" // by an interrupt that clears
)

// QueueRemovedData is the data of queue.removed.
type QueueRemovedData struct {
	MessageID string `json:"message_id"`
	Reason    string `json:"reason"`
}

// QueueMovedData is the data of queue.moved: the message's new index from the front.
type QueueMovedData struct {
	MessageID string `json:"message_id"`
	Index     int    `json:"index"`
}

// Reasons of a hold.
const (
	HoldEdit      = "edit"
	HoldInterrupt = "interrupt"
	HoldRestart   = "restart"
	HoldUser      = "user"
	HoldDenyStop  = "deny_stop"
)

// A Hold stops the queue, the data of queue.held. An edit hold names one message and applies only
// while that message is next.
type Hold struct {
	ID        string `json:"id"`
	Reason    string `json:"reason"`
	MessageID string `json:"message_id,omitempty"`
	By        *Actor `json:"by,omitempty"`
}

// QueueReleasedData is the data of queue.released: the lifted holds.
type QueueReleasedData struct {
	Holds []string `json:"holds"`
}
