package wire

// An Operation is a kind of request.
type Operation int

// Operations.
const (
	OpNone Operation = iota
	OpSubscribe
	OpSend
	OpInterrupt
	OpDequeue
	OpState
	OpHistory
	OpApproval
)

// A TagSet names the operations. The document and the real system use different tags and different
// errors.
type TagSet map[Operation]string

// The tag sets of the document and of the real system.
var (
	DocumentTags = TagSet{
		OpSubscribe: "SubscribeSession", OpSend: "SendMessage", OpInterrupt: "Interrupt", OpDequeue: "DequeueMessage",
		OpState: "GetSessionState",
	}
	ChatTags = TagSet{
		OpSubscribe: "chat.subscribe", OpSend: "chat.send", OpInterrupt: "chat.interrupt", OpDequeue: "chat.dequeue",
		OpState: "chat.getState", OpHistory: "chat.getHistory", OpApproval: "chat.respondToToolApproval",
	}
)

// OperationOf returns the operation of a tag, and whether its errors are typed.
func OperationOf(name string) (op Operation, typed bool) {
	for op, tag := range DocumentTags {
		if tag == name {
			return op, false
		}
	}
	for op, tag := range ChatTags {
		if tag == name {
			return op, true
		}
	}
	return OpNone, false
}

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
