package output

import (
	"sync"
	"testing"
)

// A message of a sender has a number of bytes.
type message struct {
	sender string
	bytes  int
}

func (m *message) Size() int { return m.bytes }

// Messages of several goroutines arrive once each, each goroutine's in order, within the bounds.
func TestTheQueueOfAnAgentsOutputKeepsAllMessagesInOrder(t *testing.T) {
	const senders, each = 4, 5000
	q := NewQueue[*message]()
	var live sync.WaitGroup
	for i := range senders {
		live.Go(func() {
			for n := range each {
				if !q.Put(&message{string(rune('a' + i)), n}, nil, nil) {
					t.Error("the queue is closed")
				}
			}
		})
	}
	next := map[string]int{}
	for range senders * each {
		m, ok := q.Take()
		for ; !ok; m, ok = q.Take() {
			<-q.Ready()
		}
		if m.bytes != next[m.sender] {
			t.Fatalf("message %d of %s follows %d", m.bytes, m.sender, next[m.sender]-1)
		}
		next[m.sender]++
		q.mu.Lock()
		if n := len(q.waiting); n > maxQueuedMessages || q.bytes >= MaxQueued+each {
			t.Errorf("%d messages with %d bytes wait", n, q.bytes)
		}
		q.mu.Unlock()
	}
	live.Wait()
	if _, ok := q.Take(); ok {
		t.Error("a message is left")
	}
	q.Free()
	if q.waiting != nil || q.taken != nil {
		t.Error("the memory of the empty queue is not free")
	}
	if !q.put(&message{}) {
		t.Error("the queue is full after its memory was freed")
	}
}
