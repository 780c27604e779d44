package dialect

import (
	"context"
	"sync"

	"github.com/coder/websocket"

	"agentctl/protocol/codec"
)

// Bounds of the queued frames, in bytes.
const (
	maxNativeQueue  = 256 << 10 // native lines wait above it
	maxForeignQueue = 4 << 20   // foreign frames wait above it: the peer sends without reading
)

// A writeQueue holds foreign frames until a goroutine has written them, so that a peer that does not
// read cannot block the codec.
type writeQueue struct {
	mu      sync.Mutex
	writing bool // writeAll runs, or is to be called
	frames  []codec.Frame
	bytes   int
	err     error         // of writing
	shrunk  chan struct{} // closed when the queue shrank or writing failed
}

func newWriteQueue() *writeQueue {
	return &writeQueue{shrunk: make(chan struct{})}
}

// push queues frames without blocking. With start the caller has writeAll called.
func (o *writeQueue) push(frames []codec.Frame) (start bool) {
	if len(frames) == 0 {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.frames = append(o.frames, frames...)
	for _, f := range frames {
		o.bytes += len(f.Data)
	}
	start, o.writing = !o.writing, true
	return start
}

// waitBelow waits until at most limit bytes are queued. It returns the error of writing or of the
// context.
func (o *writeQueue) waitBelow(ctx context.Context, limit int) error {
	for {
		o.mu.Lock()
		waiting, less, err := o.bytes, o.shrunk, o.err
		o.mu.Unlock()
		if err != nil || waiting <= limit {
			return err
		}
		select {
		case <-less:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// writeAll writes frames until none is left, the context ends or writing fails.
func (o *writeQueue) writeAll(ctx context.Context, ws Socket) error {
	for {
		o.mu.Lock()
		frames := o.frames
		o.frames, o.writing = nil, len(frames) > 0
		o.mu.Unlock()
		if len(frames) == 0 {
			return nil
		}
		for _, f := range frames {
			kind := websocket.MessageText
			if f.Binary {
				kind = websocket.MessageBinary
			}
			err := ws.Write(ctx, kind, f.Data)
			o.noteWritten(len(f.Data), err)
			if err != nil {
				return err
			}
		}
	}
}

func (o *writeQueue) noteWritten(bytes int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes -= bytes
	o.err = err
	close(o.shrunk)
	o.shrunk = make(chan struct{})
}
