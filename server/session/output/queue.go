package output

import "sync"

// Bounds of the messages that wait in a queue, and of the messages that its session has taken. They
// are wide: whenever one is reached, the agent and the session alternate, and each waits for a
// processor.
const (
	MaxQueued         = 256 << 10 // bytes; exceeded by the last message
	maxQueuedMessages = 1024
)

// A Queue holds messages of a session's agent that the session has not handled. Any goroutine may
// put; one goroutine calls the other methods. Size is the bytes of data in a message.
type Queue[M interface{ Size() int }] struct {
	ready chan struct{} // capacity 1: has a value when messages may wait
	space chan struct{} // capacity 1: has a value when put may succeed after it failed

	mu      sync.Mutex
	waiting []M
	bytes   int // of data in waiting

	taken []M // owned by the goroutine that takes
	next  int // in taken
}

// NewQueue returns an empty queue.
func NewQueue[M interface{ Size() int }]() *Queue[M] {
	return &Queue[M]{ready: make(chan struct{}, 1), space: make(chan struct{}, 1)}
}

// Put adds a message. It blocks while the queue is full, and returns false when over or closed is
// closed.
func (q *Queue[M]) Put(m M, over, closed <-chan struct{}) bool {
	for waited := false; ; waited = true {
		select {
		case <-over:
			return false
		default:
		}
		if q.put(m) {
			if waited {
				signal(q.space) // another goroutine that waits for space tries too
			}
			return true
		}
		select {
		case <-q.space:
		case <-over:
			return false
		case <-closed:
			return false
		}
	}
}

// put adds a message. It returns false when the queue is full.
func (q *Queue[M]) put(m M) bool {
	q.mu.Lock()
	n := len(q.waiting)
	full := n >= maxQueuedMessages || q.bytes >= MaxQueued
	if !full {
		q.waiting = append(q.waiting, m)
		q.bytes += m.Size()
	}
	q.mu.Unlock()
	if n == 0 {
		signal(q.ready)
	}
	return !full
}

// Ready returns the channel that has a value when messages may wait.
func (q *Queue[M]) Ready() <-chan struct{} { return q.ready }

// Take returns the next message; false for none.
func (q *Queue[M]) Take() (m M, ok bool) {
	if q.next == len(q.taken) {
		q.mu.Lock()
		q.waiting, q.taken = q.taken[:0], q.waiting
		q.bytes = 0
		q.mu.Unlock()
		q.next = 0
		if len(q.taken) == 0 {
			return m, false
		}
		signal(q.space)
	}
	var none M
	m, q.taken[q.next] = q.taken[q.next], none
	q.next++
	return m, true
}

// Len returns the number of messages that were put and not taken.
func (q *Queue[M]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) + len(q.taken) - q.next
}

// Size returns the bytes of data in the messages that wait to be taken.
func (q *Queue[M]) Size() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

// Free frees the memory of the queue unless messages wait.
func (q *Queue[M]) Free() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 && q.next == len(q.taken) {
		q.waiting, q.taken, q.next = nil, nil, 0
	}
}

// Rest makes the queue ready if messages wait that Take has counted as taken.
func (q *Queue[M]) Rest() {
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
