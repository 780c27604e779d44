package wsclient

import (
	"context"
	"iter"
	"sync"
	"time"
)

// A Phase is the state of a client's connection.
type Phase string

// The phases. Closing begins when Close is called, the server closes the connection, or the client
// drops it. It lasts until the socket is closed and the connection's goroutines have ended; after
// Close, until the client's goroutines have ended. Closed follows Close; reconnecting or offline
// follows any other end of a connection.
const (
	PhaseConnecting   Phase = "connecting"   // first attempt, or waiting to repeat it
	PhaseOpen         Phase = "open"         // hello was answered
	PhaseClosing      Phase = "closing"      // the connection or the client is being closed
	PhaseReconnecting Phase = "reconnecting" // was open before
	PhaseOffline      Phase = "offline"      // not trying: not started, refused, or attempts exhausted
	PhaseClosed       Phase = "closed"       // final
)

// ConnState describes a client's connection.
type ConnState struct {
	Phase   Phase
	Attempt int       // running or scheduled attempt, from 1; 0 if none
	RetryAt time.Time // start of the scheduled attempt; zero if none is scheduled
	Err     error     // why the last attempt or connection ended, or the client closes; nil while unknown and once open
}

// A stateBox holds the current state for concurrent readers.
type stateBox struct {
	mu      sync.Mutex
	state   ConnState
	ending  bool          // the client is being closed: only closed may follow
	changed chan struct{} // closed by the next change
}

func newStateBox() *stateBox {
	return &stateBox{state: ConnState{Phase: PhaseOffline}, changed: make(chan struct{})}
}

// set changes the state, unless the client is being closed.
func (b *stateBox) set(s ConnState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ending {
		b.change(s)
	}
}

// end begins the close of the client, unless it has begun.
func (b *stateBox) end(reason error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.ending {
		b.ending = true
		b.change(ConnState{Phase: PhaseClosing, Err: reason})
	}
}

// ended completes the close of the client.
func (b *stateBox) ended(reason error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ending = true
	b.change(ConnState{Phase: PhaseClosed, Err: reason})
}

// change sets the state and wakes the readers. b.mu is locked.
func (b *stateBox) change(s ConnState) {
	b.state = s
	close(b.changed)
	b.changed = make(chan struct{})
}

// get returns the state and a channel that is closed when it changes.
func (b *stateBox) get() (ConnState, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.state, b.changed
}

func (b *stateBox) current() ConnState {
	s, _ := b.get()
	return s
}

// State returns the current state of the connection.
func (c *Client) State() ConnState { return c.state.current() }

// States yields the current state and then each change, until the client is closed, ctx ends or the
// caller stops. A slow caller misses intermediate states, never the newest.
func (c *Client) States(ctx context.Context) iter.Seq[ConnState] {
	return func(yield func(ConnState) bool) {
		for {
			s, changed := c.state.get()
			if !yield(s) || s.Phase == PhaseClosed {
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}
}
