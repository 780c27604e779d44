package session

import "sync"

// Bounds of what waits in a queue, and of what its session has taken. They are wide, because the
// agent and the session take turns as often as they are reached, and each waits for a processor.
const (
	maxQueuedMessages = 1024
	maxQueuedBytes    = 256 << 10 // exceeded by the last message
)

// An outputQueue has what a session's agent emitted and the session has not handled. Any goroutine
// may put; the session's goroutine takes.
type outputQueue struct {
	ready chan struct{} // capacity 1: has a value when messages may wait
	space chan struct{} // capacity 1: has a value when put may succeed after it failed

	mu      sync.Mutex
	waiting []*agentMessage
	bytes   int // of data in waiting

	taken []*agentMessage // owned by the session's goroutine
	next  int             // in taken
}

func newOutputQueue() *outputQueue {
	return &outputQueue{ready: make(chan struct{}, 1), space: make(chan struct{}, 1)}
}

// put adds a message. It returns false when the queue is full.
func (q *outputQueue) put(m *agentMessage) bool {
	q.mu.Lock()
	n := len(q.waiting)
	full := n >= maxQueuedMessages || q.bytes >= maxQueuedBytes
	if !full {
		q.waiting = append(q.waiting, m)
		q.bytes += m.size()
	}
	q.mu.Unlock()
	if n == 0 {
		signal(q.ready)
	}
	return !full
}

// passSpace lets another goroutine that waits for space try too.
func (q *outputQueue) passSpace() { signal(q.space) }

// take returns the next message; nil for none.
func (q *outputQueue) take() *agentMessage {
	if q.next == len(q.taken) {
		q.mu.Lock()
		q.waiting, q.taken = q.taken[:0], q.waiting
		q.bytes = 0
		q.mu.Unlock()
		q.next = 0
		if len(q.taken) == 0 {
			return nil
		}
		signal(q.space)
	}
	m := q.taken[q.next]
	q.taken[q.next] = nil
	q.next++
	return m
}

// len returns the number of messages that the session has not handled.
func (q *outputQueue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) + len(q.taken) - q.next
}

// free frees the memory of the queue unless messages wait.
func (q *outputQueue) free() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 && q.next == len(q.taken) {
		q.waiting, q.taken, q.next = nil, nil, 0
	}
}

// rest makes the queue ready if messages were taken and not returned.
func (q *outputQueue) rest() {
	if q.next < len(q.taken) {
		signal(q.ready)
	}
}

// signal adds a value to a channel of capacity 1, unless it has one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
