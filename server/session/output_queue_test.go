package session

import (
	"sync"
	"testing"

	"agentctl/protocol"
)

// Messages of several goroutines arrive once each, those of one in order, within the bounds.
func TestTheQueueOfAnAgentsOutputKeepsAllMessagesInOrder(t *testing.T) {
	const senders, each = 4, 5000
	q := newOutputQueue()
	var live sync.WaitGroup
	for i := range senders {
		live.Go(func() {
			for n := range each {
				m := &agentMessage{entries: []entry{{part: string(rune('a' + i)), data: make([]byte, n)}}}
				for !q.put(m) {
					<-q.space
				}
				q.passSpace()
			}
		})
	}
	next := map[string]int{}
	for range senders * each {
		m := q.take()
		for ; m == nil; m = q.take() {
			<-q.ready
		}
		en := m.entries[0]
		if len(en.data) != next[en.part] {
			t.Fatalf("message %d of %s follows %d", len(en.data), en.part, next[en.part]-1)
		}
		next[en.part]++
		q.mu.Lock()
		if n := len(q.waiting); n > maxQueuedMessages || q.bytes >= maxQueuedBytes+each {
			t.Errorf("%d messages with %d bytes wait", n, q.bytes)
		}
		q.mu.Unlock()
	}
	live.Wait()
	if q.take() != nil {
		t.Error("a message is left")
	}
	q.free()
	if q.waiting != nil || q.taken != nil {
		t.Error("the memory of the empty queue is not free")
	}
	if !q.put(&agentMessage{entries: []entry{{typ: protocol.TextDelta}}}) {
		t.Error("the queue is full after its memory was freed")
	}
}
