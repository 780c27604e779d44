package session

import (
	"context"
	"slices"
	"sort"
	"sync"

	"agentctl/protocol"
)

const (
	firstSegment = 4 << 10
	maxSegment   = 64 << 10
	tailBytes    = 1 << 20 // of the log that stays in memory
)

// A Log is a session's events in their order. The session appends at head; a commit moves visible; readers, each with a
// position of its own, see nothing beyond it. The newest events are held in memory as encoded, the others come from the
// store, and both are read the same way.
//
// The session's goroutine alone appends, publishes and rolls back; any goroutine may read.
type Log struct {
	session string // constant
	store   Store  // constant

	mu       sync.Mutex
	epoch    string
	segments []*segment // contiguous; the last one ends at head
	bytes    int        // in segments
	head     uint64
	visible  uint64
	readers  []Waker
}

// A Waker is told that visible moved. Wake must not block; it is called with the log's lock held.
type Waker interface{ Wake() }

// A segment holds lines of consecutive seqs. buf is never reallocated: what was handed out stays as it is.
type segment struct {
	first uint64
	ends  []uint32 // ends[i] is where line first+i ends
	buf   []byte
}

func (g *segment) last() uint64 { return g.first + uint64(len(g.ends)) - 1 }

// start returns where the line of seq starts.
func (g *segment) start(seq uint64) int {
	if seq == g.first {
		return 0
	}
	return int(g.ends[seq-g.first-1])
}

func newLog(session, epoch string, store Store, head uint64) *Log {
	return &Log{session: session, store: store, epoch: epoch, head: head, visible: head}
}

// Position returns the end of the visible log.
func (l *Log) Position() protocol.Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return protocol.Position{Epoch: l.epoch, Seq: l.visible}
}

// append adds the line of seq head+1.
func (l *Log) append(line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.head++
	n := len(l.segments)
	if n == 0 || len(l.segments[n-1].buf)+len(line) > cap(l.segments[n-1].buf) {
		size := firstSegment
		if n > 0 {
			size = min(2*cap(l.segments[n-1].buf), maxSegment)
		}
		l.segments = append(l.segments, &segment{first: l.head, buf: make([]byte, 0, max(size, len(line)))})
		n++
	}
	g := l.segments[n-1]
	g.buf = append(g.buf, line...)
	g.ends = append(g.ends, uint32(len(g.buf)))
	l.bytes += len(line)
}

// publish makes everything up to seq visible, drops what is older than the tail and wakes the readers.
func (l *Log) publish(seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if seq <= l.visible {
		return
	}
	l.visible = seq
	drop := 0
	for drop < len(l.segments)-1 && l.bytes > tailBytes && l.segments[drop].last() <= l.visible {
		l.bytes -= len(l.segments[drop].buf)
		drop++
	}
	l.segments = slices.Delete(l.segments, 0, drop)
	for _, w := range l.readers {
		w.Wake()
	}
}

// rollback forgets what was appended and is not visible.
func (l *Log) rollback() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n := len(l.segments); n > 0 && l.segments[n-1].last() > l.visible; n-- {
		g := l.segments[n-1]
		keep := 0
		if g.first <= l.visible {
			keep = int(l.visible - g.first + 1)
		}
		end := 0
		if keep > 0 {
			end = int(g.ends[keep-1])
		}
		l.bytes -= len(g.buf) - end
		if keep > 0 {
			// A new segment: a batch in flight may still read the old one's bytes.
			l.segments[n-1] = &segment{first: g.first, ends: slices.Clone(g.ends[:keep]), buf: slices.Clip(g.buf[:end])}
			break
		}
		l.segments = l.segments[:n-1]
	}
	l.head = l.visible
}

// join adds a reader to be woken, once.
func (l *Log) join(w Waker) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.readers, w) {
		l.readers = append(l.readers, w)
	}
}

// leave removes a reader.
func (l *Log) leave(w Waker) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.readers, w); i >= 0 {
		l.readers = slices.Delete(l.readers, i, i+1)
	}
}

// tail returns lines after seq from memory: as many as fit most bytes, at least one. ok is false when they are not in memory
// (any more). The bytes must not be changed.
func (l *Log) tail(after uint64, most int) (lines []byte, last uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if after >= l.visible {
		return nil, after, true
	}
	i := sort.Search(len(l.segments), func(i int) bool { return l.segments[i].last() > after })
	if i == len(l.segments) || l.segments[i].first > after+1 {
		return nil, after, false
	}
	g := l.segments[i]
	start := g.start(after + 1)
	from := int(after + 1 - g.first)
	upto := min(len(g.ends), int(l.visible-g.first+1))
	n := sort.Search(upto-from, func(i int) bool { return int(g.ends[from+i])-start > most })
	if n == 0 {
		n = 1
	}
	return g.buf[start:g.ends[from+n-1]:g.ends[from+n-1]], after + uint64(n), true
}

// catchUp is the distance, in events, from which a reader that folds is better served by the stored folds than by memory.
const catchUp = 64

// Read returns visible lines after seq: as many as fit most bytes, at least one when there is one, and the seq of the last. With
// folded, runs come folded where the store has them: what is far behind, not what is live. The lines may lie in buf or in the
// log and must not be changed; they hold until buf is used again.
func (l *Log) Read(ctx context.Context, after uint64, folded bool, most int, buf []byte) ([]byte, uint64, error) {
	visible := l.Position().Seq
	if !folded || visible-min(after, visible) < catchUp {
		if lines, last, ok := l.tail(after, most); ok {
			return lines, last, nil
		}
	}
	return l.store.Read(ctx, l.session, after, visible, folded, most, buf[:0])
}
