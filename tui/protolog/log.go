package protolog

import (
	"bytes"
	"context"
	"sync"
	"time"
)

// Limits of a Log. It drops the oldest frames and truncates large ones.
const (
	MaxFrames     = 2000
	MaxBytes      = 8 << 20
	MaxFrameBytes = 1 << 20
)

// Frame is a frame of the connection, or a note about the connection.
type Frame struct {
	Number uint64 // from 1, without gaps
	Time   time.Time
	Sent   bool // false: received
	Binary bool
	Size   int    // original size of Data
	Data   []byte // at most MaxFrameBytes
	Note   string // with a note, there is no data
}

// Log holds the newest frames of a connection. Adding a frame never waits for a reader. It is safe
// for concurrent use.
type Log struct {
	redactor *redactor // immutable

	mu        sync.Mutex
	ring      []Frame // nil or of length MaxFrames; frame n is at n%MaxFrames
	next      uint64  // number of the next frame
	count     int     // number of frames held
	bytes     int     // capacity of all data
	changed   chan struct{}
	hasWaiter bool // a reader waits for changed
}

// NewLog returns an empty log. Readers of it see neither the given secrets nor text that looks like
// a credential.
func NewLog(secrets ...string) *Log {
	return &Log{redactor: newRedactor(secrets), next: 1, changed: make(chan struct{})}
}

// AddFrame adds a frame. It keeps data, which must not be changed afterwards.
func (l *Log) AddFrame(at time.Time, sent, binary bool, data []byte) {
	f := Frame{Time: at, Sent: sent, Binary: binary, Size: len(data), Data: data}
	if len(data) > MaxFrameBytes {
		f.Data = bytes.Clone(data[:MaxFrameBytes]) // frees the rest
	}
	l.add(f)
}

// AddNote adds a note about the connection.
func (l *Log) AddNote(at time.Time, text string) { l.add(Frame{Time: at, Note: text}) }

func (l *Log) add(f Frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ring == nil {
		l.ring = make([]Frame, MaxFrames)
	}
	f.Number = l.next
	if l.count == MaxFrames {
		l.dropOldest()
	}
	*l.frame(l.next) = f
	l.next++
	l.count++
	l.bytes += cap(f.Data)
	for l.bytes > MaxBytes && l.count > 1 {
		l.dropOldest()
	}
	if l.hasWaiter {
		l.hasWaiter = false
		close(l.changed)
		l.changed = make(chan struct{})
	}
}

// dropOldest removes the oldest frame.
func (l *Log) dropOldest() {
	oldest := l.frame(l.next - uint64(l.count))
	l.bytes -= cap(oldest.Data)
	*oldest = Frame{}
	l.count--
}

func (l *Log) frame(number uint64) *Frame { return &l.ring[number%MaxFrames] }

// readBytes limits the result of After. The last frame can exceed it.
const readBytes = 512 << 10

// After waits until there are frames after the one with the given number, and returns the oldest of
// them, with credentials redacted. It fails only with the error of ctx.
func (l *Log) After(ctx context.Context, number uint64) ([]Frame, error) {
	for {
		frames, changed := l.after(number)
		if len(frames) > 0 {
			for i := range frames {
				frames[i].Data = l.redactor.redact(frames[i].Data)
				frames[i].Note = string(l.redactor.redact([]byte(frames[i].Note)))
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
	for n, bytes := max(number+1, l.next-uint64(l.count)), 0; n < l.next && bytes < readBytes; n++ {
		f := *l.frame(n)
		bytes += len(f.Data)
		out = append(out, f)
	}
	l.hasWaiter = l.hasWaiter || len(out) == 0
	return out, l.changed
}
