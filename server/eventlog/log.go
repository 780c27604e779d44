package eventlog

import (
	"context"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"agentctl/protocol"
)

const (
	firstSegment = 512
	maxSegment   = 64 << 10
	tailBytes    = 1 << 20 // of the log kept in memory
)

// A Log is the ordered events of a session. The session appends at head; a commit moves visible;
// readers, each with its own position, see nothing beyond visible. The newest events are in memory,
// encoded; older ones come from the cache and the store.
//
// Only the session's goroutine appends, publishes and rolls back; any goroutine may read. Appending
// takes no lock: a hundred readers in turn would each delay the session.
type Log struct {
	session string        // constant
	epoch   string        // constant
	store   Store         // constant
	cache   *Cache        // constant; has older events
	reading chan struct{} // capacity 1: held to read the store for the cache

	// Owned by the session's goroutine.
	head uint64
	open []*segment // have lines that are not visible, except the last one, which may have none

	visible   atomic.Uint64
	lastOther atomic.Uint64 // seq of the last event that is not a delta; at the start, head
	folds     atomic.Uint64 // end of the last fold in the store, at most visible; at the start, head

	mu       sync.Mutex
	segments []*segment // contiguous; of visible lines; share memory with open
	bytes    int        // in segments
	readers  []Waker

	ended bool // guarded by cache.mu: no events go to the cache
}

// A Waker is woken when visible moves. Wake is called with the log locked and must not block.
type Waker interface{ Wake() }

// NewLog returns the log of a session whose stored events end at head. Older events are read
// through the cache.
func NewLog(session, epoch string, store Store, cache *Cache, head uint64) *Log {
	l := &Log{session: session, epoch: epoch, store: store, cache: cache, reading: make(chan struct{}, 1), head: head}
	l.visible.Store(head)
	l.lastOther.Store(head)
	l.folds.Store(head)
	return l
}

// Position returns the end of the visible log.
func (l *Log) Position() protocol.Position {
	return protocol.Position{Epoch: l.epoch, Seq: l.visible.Load()}
}

// Bytes returns the size of the visible lines in memory.
func (l *Log) Bytes() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes
}

// append adds the line with seq head+1.
func (l *Log) append(line []byte, isDelta bool) {
	l.head++
	if !isDelta {
		l.lastOther.Store(l.head)
	}
	n := len(l.open)
	if n == 0 || len(l.open[n-1].buf)+len(line) > cap(l.open[n-1].buf) {
		size := firstSegment
		if n > 0 {
			size = min(2*cap(l.open[n-1].buf), maxSegment)
		}
		l.open = append(l.open, &segment{first: l.head, buf: make([]byte, 0, max(size, len(line)))})
		n++
	}
	g := l.open[n-1]
	g.buf = append(g.buf, line...)
	g.lineEnds = append(g.lineEnds, uint32(len(g.buf)))
}

// lines returns the lines from one seq through another, which are not visible. They are part of the
// log.
func (l *Log) lines(from, through uint64) [][]byte {
	i := sort.Search(len(l.open), func(i int) bool { return l.open[i].last() >= from })
	var out [][]byte
	for ; from <= through; i++ {
		lines, last := l.open[i].lines(from-1, through, math.MaxInt)
		out, from = append(out, lines), last+1
	}
	return out
}

// publish makes everything up to seq visible, moves segments beyond tailBytes to the cache and
// wakes the readers.
func (l *Log) publish(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq <= l.visible.Load() {
		return
	}
	for _, g := range l.open {
		if g.first <= seq {
			l.show(g, min(len(g.lineEnds), int(seq-g.first+1)))
		}
	}
	for len(l.open) > 1 && l.open[0].last() <= seq {
		l.open = slices.Delete(l.open, 0, 1)
	}
	l.visible.Store(seq)
	drop := 0
	for drop < len(l.segments)-1 && l.bytes > tailBytes {
		l.bytes -= len(l.segments[drop].buf)
		l.cache.add(view{l, false}, l.segments[drop])
		drop++
	}
	l.segments = slices.Delete(l.segments, 0, drop)
	for _, w := range l.readers {
		w.Wake()
	}
}

// show lets readers have the first lines of a segment of open. It requires mu.
func (l *Log) show(g *segment, lines int) {
	n := len(l.segments)
	if n == 0 || l.segments[n-1].first != g.first {
		l.segments = append(l.segments, &segment{first: g.first})
		n++
	}
	shown := l.segments[n-1]
	l.bytes -= len(shown.buf)
	shown.lineEnds = g.lineEnds[:lines:lines]
	shown.buf = g.buf[:g.lineEnds[lines-1]]
	l.bytes += len(shown.buf)
}

// OnlyDeltas reports whether there are visible events after a seq, all of them deltas. It may
// report false for deltas, but never true for another event.
func (l *Log) OnlyDeltas(after uint64) bool {
	return l.visible.Load() > after && l.lastOther.Load() <= after // in this order
}

// release frees the memory of the log; later reads come from the store. It does nothing while
// events are not visible.
func (l *Log) release() {
	if l.visible.Load() != l.head {
		return
	}
	l.open = nil
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segments, l.bytes = nil, 0
}

// rollback removes everything beyond visible. The next line begins a segment, because a batch in
// flight may still read the bytes of the last one.
func (l *Log) rollback() { l.head, l.open = l.visible.Load(), nil }

// End removes the events of the log from the cache, when its session is no longer in memory.
// Remaining readers read the store.
func (l *Log) End() { l.cache.end(l) }

// AddReader adds a reader to wake, at most once.
func (l *Log) AddReader(w Waker) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.readers, w) {
		l.readers = append(l.readers, w)
	}
}

// RemoveReader removes a reader.
func (l *Log) RemoveReader(w Waker) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.readers, w); i >= 0 {
		l.readers = slices.Delete(l.readers, i, i+1)
	}
}

// tail returns the lines in (after, through] from memory; through must be visible. It returns at
// most most bytes, but at least one line. ok is false when they are not in memory. The caller must
// not change the bytes.
func (l *Log) tail(after, through uint64, most int) (lines []byte, last uint64, ok bool) {
	if after >= through {
		return nil, after, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	i := sort.Search(len(l.segments), func(i int) bool { return l.segments[i].last() > after })
	if i == len(l.segments) || l.segments[i].first > after+1 {
		return nil, after, false
	}
	lines, last = l.segments[i].lines(after, through, most)
	return lines, last, true
}

// inMemory returns the first visible seq in memory, or the one after the last visible.
func (l *Log) inMemory() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.segments) > 0 {
		return l.segments[0].first
	}
	return l.visible.Load() + 1
}

// catchUpDistance is the distance in events from which a folding reader reads stored folds instead
// of memory.
const catchUpDistance = 64

// Read returns visible lines after a seq and the seq of the last one: at most most bytes, but at
// least one line if any is visible. With folded, runs far behind the end are folded, where the
// store has folds. The lines are part of the log: the caller must not change them.
func (l *Log) Read(ctx context.Context, after uint64, folded bool, most int) ([]byte, uint64, error) {
	folds, visible := l.folds.Load(), l.visible.Load() // in this order: visible is not less
	if !folded || after >= folds {
		return l.readEvents(ctx, after, visible, most)
	}
	if visible-after < catchUpDistance {
		if lines, last, ok := l.tail(after, visible, most); ok {
			return lines, last, nil
		}
	}
	return l.cache.read(ctx, view{l, true}, after, folds, most)
}

// readEvents is Read without folds, through a visible seq.
func (l *Log) readEvents(ctx context.Context, after, through uint64, most int) ([]byte, uint64, error) {
	if lines, last, ok := l.tail(after, through, most); ok {
		return lines, last, nil
	}
	return l.cache.read(ctx, view{l, false}, after, through, most)
}
