package wsclient

import (
	"sync"

	"agentctl/protocol"
)

// minInbox is the lower limit of an inbox's bound, in bytes.
const minInbox = 1 << 20

// An inbox buffers a subscription's items between the event loop, which puts, and one consumer,
// which takes. Its bound exceeds twice the window. With acknowledgements the window limits the
// server first and the inbox never fills; without, a full inbox stops reading from the connection.
type inbox struct {
	ready chan struct{} // capacity 1; signals a change

	mu     sync.Mutex
	bound  int64 // bytes
	items  []entry
	head   int
	bytes  int64
	full   bool              // the event loop waits for room
	taken  protocol.Position // of the last item taken
	known  bool              // taken is valid
	err    error
	over   bool // err, which may be nil, follows the items
	closed bool // nothing follows
}

// An entry is an item and its size on the connection.
type entry struct {
	Item
	bytes int64
}

func newInbox(window int64) *inbox {
	return &inbox{ready: make(chan struct{}, 1), bound: max(minInbox, 2*window+2*protocol.MaxEvent)}
}

// put adds an item. It returns true if the inbox is full: the event loop then stops until the
// consumer reports room.
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
	signal(b.ready)
	if b.bytes > b.bound {
		b.full = true
	}
	return b.full
}

// hasRoom reports whether a new attachment may start. If not, the consumer reports when there is
// room.
func (b *inbox) hasRoom() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.full = b.bytes > b.bound/2
	return !b.full
}

// A takeResult is the result of take.
type takeResult struct {
	entry
	ok   bool  // entry is valid
	room bool  // a full inbox has room again: notify the event loop
	over bool  // only err follows
	err  error // with over
}

// take removes the next item and advances the position to it.
func (b *inbox) take() (r takeResult) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || b.head == len(b.items) {
		r.over = b.closed || b.over
		if !b.closed {
			r.err = b.err
		}
		return r
	}
	r.entry, r.ok = b.items[b.head], true
	b.items[b.head] = entry{}
	if b.head++; b.head == len(b.items) {
		b.items, b.head = b.items[:0], 0
	}
	b.bytes -= r.bytes
	if b.full && b.bytes <= b.bound/2 {
		b.full, r.room = false, true
	}
	switch {
	case r.Attached != nil:
		b.taken, b.known = r.Attached.After, true
	case r.Event.Durable():
		b.taken.Seq = r.Event.Seq
	}
	return r
}

// position returns the position of the last item taken.
func (b *inbox) position() (p protocol.Position, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken, b.known
}

// restart discards the items that were not taken, for another run of the consumer. It returns false
// if the inbox is closed.
func (b *inbox) restart() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.items)
	b.items, b.head, b.bytes, b.full, b.err, b.over = b.items[:0], 0, 0, false, nil, false
	return !b.closed
}

// finish ends the inbox with err after its items.
func (b *inbox) finish(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.over {
		b.over, b.err = true, err
	}
	signal(b.ready)
}

// close ends the inbox immediately and for good.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	signal(b.ready)
}

// signal wakes the reader of c, a channel with a capacity of 1.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
