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
	tailBytes    = 1 << 20 // of the log kept in memory
)

// A Log is the ordered events of a session. The session appends at head; a commit moves visible;
// readers, each with its own position, see nothing beyond visible. The newest events are in memory,
// encoded; older ones come from the store.
//
// Only the session's goroutine appends, publishes and rolls back; any goroutine may read.
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

// A Waker is woken when visible moves. Wake is called with the log locked and must not block.
type Waker interface{ Wake() }

// A segment holds lines of consecutive seqs. buf is never reallocated, so that slices of it stay
// valid.
type segment struct {
	first    uint64
	lineEnds []uint32 // lineEnds[i] is the end of line first+i in buf
	buf      []byte
}

func (g *segment) last() uint64 { return g.first + uint64(len(g.lineEnds)) - 1 }

// start returns the offset of a line.
func (g *segment) start(seq uint64) int {
	if seq == g.first {
		return 0
	}
	return int(g.lineEnds[seq-g.first-1])
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

// append adds the line with seq head+1.
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
	g.lineEnds = append(g.lineEnds, uint32(len(g.buf)))
	l.bytes += len(line)
}

// publish makes everything up to seq visible, drops segments beyond tailBytes and wakes the
// readers.
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

// rollback removes everything beyond visible.
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
			end = int(g.lineEnds[keep-1])
		}
		l.bytes -= len(g.buf) - end
		if keep > 0 {
			// Copy the segment: a batch in flight may still read its bytes.
			l.segments[n-1] = &segment{
				first:    g.first,
				lineEnds: slices.Clone(g.lineEnds[:keep]),
				buf:      slices.Clip(g.buf[:end]),
			}
			break
		}
		l.segments = l.segments[:n-1]
	}
	l.head = l.visible
}

// addReader adds a reader to wake, at most once.
func (l *Log) addReader(w Waker) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.readers, w) {
		l.readers = append(l.readers, w)
	}
}

// removeReader removes a reader.
func (l *Log) removeReader(w Waker) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.readers, w); i >= 0 {
		l.readers = slices.Delete(l.readers, i, i+1)
	}
}

// tail returns lines after a seq from memory: as many as fit most bytes, at least one. ok is false
// when they are not in memory. The caller must not change the bytes.
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
	upto := min(len(g.lineEnds), int(l.visible-g.first+1))
	n := sort.Search(upto-from, func(i int) bool { return int(g.lineEnds[from+i])-start > most })
	if n == 0 {
		n = 1
	}
	return g.buf[start:g.lineEnds[from+n-1]:g.lineEnds[from+n-1]], after + uint64(n), true
}

// catchUpDistance is the distance in events from which a folding reader reads stored folds instead
// of memory.
const catchUpDistance = 64

// Read returns visible lines after a seq: as many as fit most bytes, at least one if there is one,
// and the seq of the last. With folded, runs far behind the end are folded, where the store has
// folds. The lines may be part of buf or of the log: the caller must not change them, and they are
// valid until buf is reused.
func (l *Log) Read(ctx context.Context, after uint64, folded bool, most int, buf []byte) ([]byte, uint64, error) {
	visible := l.Position().Seq
	if !folded || visible-min(after, visible) < catchUpDistance {
		if lines, last, ok := l.tail(after, most); ok {
			return lines, last, nil
		}
	}
	return l.store.Read(ctx, l.session, after, visible, folded, most, buf[:0])
}
