package wire

// A SendResult is the result of a send.
type SendResult struct {
	Status        string         `json:"status"`
	MessageID     string         `json:"messageId,omitempty"`
	QueuedMessage *QueuedMessage `json:"queuedMessage,omitempty"`
}

// An InterruptResult is the result of an interrupt.
type InterruptResult struct {
	Interrupted bool `json:"interrupted"`
}

// A DequeueResult is the result of a dequeue.
type DequeueResult struct {
	Removed bool `json:"removed"`
}

// An ApprovalResult is the result of an answer to an approval.
type ApprovalResult struct {
	Acknowledged bool `json:"acknowledged"`
}
