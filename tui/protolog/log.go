package protolog

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// What a Log keeps at most: the newest frames, so many bytes of them together, and
// of one frame its beginning.
const (
	MaxFrames     = 2000
	MaxBytes      = 8 << 20
	MaxFrameBytes = 1 << 20
)

// A Frame is one message on the wire, or what became of the connection.
type Frame struct {
	Number uint64 // from 1, without gaps but for frames that were given up
	Time   time.Time
	Sent   bool // by us
	Binary bool
	Size   int    // bytes on the wire
	Data   []byte // what is kept of them
	Note   string // of the connection; then there is no data
}

// A Log keeps the newest frames of a connection. Whoever has the connection adds
// to it and never waits for a reader. Safe for concurrent use.
type Log struct {
	hide *hider // static

	mu      sync.Mutex
	ring    []Frame // of MaxFrames, once there is a frame
	next    uint64  // number of the next frame
	kept    int     // frames, the newest
	bytes   int     // that their data occupies
	changed chan struct{}
	awaited bool // somebody waits for changed
}

// NewLog makes a log that, beside what looks like a credential, hides these
// secrets wherever they stand.
func NewLog(secrets ...string) *Log {
	return &Log{hide: newHider(secrets), next: 1, changed: make(chan struct{})}
}

// AddFrame keeps a frame; the data must not change any more.
func (l *Log) AddFrame(at time.Time, sent, binary bool, data []byte) {
	f := Frame{Time: at, Sent: sent, Binary: binary, Size: len(data), Data: data}
	if len(data) > MaxFrameBytes {
		f.Data = bytes.Clone(data[:MaxFrameBytes]) // the rest of it may go
	}
	l.add(f)
}

// AddNote keeps what became of the connection.
func (l *Log) AddNote(at time.Time, text string) { l.add(Frame{Time: at, Note: text}) }

func (l *Log) add(f Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ring == nil {
		l.ring = make([]Frame, MaxFrames)
	}
	f.Number = l.next
	if l.kept == MaxFrames {
		l.drop()
	}
	*l.at(l.next) = f
	l.next++
	l.kept++
	l.bytes += cap(f.Data)
	for l.bytes > MaxBytes && l.kept > 1 {
		l.drop()
	}
	if l.awaited {
		l.awaited = false
		close(l.changed)
		l.changed = make(chan struct{})
	}
}

// drop gives up the oldest frame.
func (l *Log) drop() {
	oldest := l.at(l.next - uint64(l.kept))
	l.bytes -= cap(oldest.Data)
	*oldest = Frame{}
	l.kept--
}

func (l *Log) at(number uint64) *Frame { return &l.ring[number%MaxFrames] }

// readBytes is how much After gives at once, and a frame more.
const readBytes = 512 << 10

// After returns frames after the one with that number, the oldest first and some
// of them when there are many; it waits until there is one. What is a credential
// in them is hidden. The error is the context's.
func (l *Log) After(ctx context.Context, number uint64) ([]Frame, error) {
	for {
		frames, changed := l.after(number)
		if len(frames) > 0 {
			for i := range frames {
				frames[i].Data = l.hide.data(frames[i].Data)
				frames[i].Note = string(l.hide.data([]byte(frames[i].Note)))
			}
			return frames, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (l *Log) after(number uint64) ([]Frame, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Frame
	for n, bytes := max(number+1, l.next-uint64(l.kept)), 0; n < l.next && bytes < readBytes; n++ {
		f := *l.at(n)
		bytes += len(f.Data)
		out = append(out, f)
	}
	l.awaited = l.awaited || len(out) == 0
	return out, l.changed
}
