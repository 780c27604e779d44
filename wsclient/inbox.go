package wsclient

import (
	"sync"

	"agentctl/protocol"
)

// minInbox is the least number of bytes that an inbox holds before the client stops reading.
const minInbox = 1 << 20

// An inbox holds what arrived for a subscription until its consumer takes it. The loop puts, one consumer takes. Its bound is
// above what a window lets a server send twice over, so with acks it is never full and a slow consumer is held back by the
// window alone; without, a full inbox stops the reading of the connection.
type inbox struct {
	ready chan struct{} // has room for one: something changed

	mu     sync.Mutex
	bound  int64
	items  []entry
	head   int
	bytes  int64
	full   bool              // the loop waits for room
	taken  protocol.Position // of the last item taken
	known  bool              // taken says something
	err    error
	over   bool // err, which may be nil, follows the items
	closed bool // nothing follows
}

// An entry is an item and what it counts.
type entry struct {
	Item
	bytes int64
}

func newInbox(window int64) *inbox {
	return &inbox{ready: make(chan struct{}, 1), bound: max(minInbox, 2*window+2*protocol.MaxEvent)}
}

// put adds an item; full when the loop should stop until the consumer says that there is room.
func (b *inbox) put(it Item, bytes int64) (full bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over || b.closed {
		return false
	}
	if b.head > 64 && b.head*2 > len(b.items) {
		n := copy(b.items, b.items[b.head:])
		clear(b.items[n:])
		b.items, b.head = b.items[:n], 0
	}
	b.items = append(b.items, entry{it, bytes})
	b.bytes += bytes
	b.wake()
	if b.bytes > b.bound {
		b.full = true
	}
	return b.full
}

// hasRoom reports whether a new attachment may start; if not, the consumer will say when.
func (b *inbox) hasRoom() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.full = b.bytes > b.bound/2
	return !b.full
}

// A taking is what take found.
type taking struct {
	entry
	ok   bool  // there is an item
	room bool  // the loop waits to hear that there is room again
	over bool  // nothing follows but err
	err  error // with over
}

// take removes the next item. From then on the position is the item's.
func (b *inbox) take() (t taking) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.head == len(b.items) {
		t.over = b.closed || b.over
		if !b.closed {
			t.err = b.err
		}
		return t
	}
	t.entry, t.ok = b.items[b.head], true
	b.items[b.head] = entry{}
	if b.head++; b.head == len(b.items) {
		b.items, b.head = b.items[:0], 0
	}
	b.bytes -= t.bytes
	if b.full && b.bytes <= b.bound/2 {
		b.full, t.room = false, true
	}
	switch {
	case t.Attached != nil:
		b.taken, b.known = t.Attached.After, true
	case t.Event.Durable():
		b.taken.Seq = t.Event.Seq
	}
	return t
}

// position returns that of the last item taken.
func (b *inbox) position() (p protocol.Position, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken, b.known
}

// empty forgets what was not taken, for another run of the consumer; false when the inbox was closed.
func (b *inbox) empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.items)
	b.items, b.head, b.bytes, b.full, b.err, b.over = b.items[:0], 0, 0, false, nil, false
	return !b.closed
}

// finish lets the consumer take what is there, then err.
func (b *inbox) finish(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		b.over, b.err = true, err
	}
	b.wake()
}

// close ends the inbox for good.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.wake()
}

func (b *inbox) wake() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}
