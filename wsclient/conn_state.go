package wsclient

import (
	"context"
	"iter"
	"sync"
	"time"
)

// A Phase is the state of a client's connection.
type Phase string

// The phases.
const (
	PhaseConnecting   Phase = "connecting"   // first attempt, or waiting to repeat it
	PhaseOpen         Phase = "open"         // hello was answered
	PhaseReconnecting Phase = "reconnecting" // was open before
	PhaseOffline      Phase = "offline"      // not trying: not started, refused, or attempts exhausted
	PhaseClosed       Phase = "closed"       // final
)

// ConnState describes a client's connection.
type ConnState struct {
	Phase   Phase
	Attempt int       // attempt under way or scheduled, from 1; 0 if none
	RetryAt time.Time // start of the scheduled attempt; zero if it is under way or there is none
	Err     error     // why the last attempt or connection ended, or the client closed; nil once open
}

// A stateBox holds the current state for concurrent readers.
type stateBox struct {
	mu      sync.Mutex
	state   ConnState
	changed chan struct{} // closed by the next set
}

func newStateBox() *stateBox {
	return &stateBox{state: ConnState{Phase: PhaseOffline}, changed: make(chan struct{})}
}

func (b *stateBox) set(s ConnState) {
	b.mu.Lock()
	defer b.mu.Unlock()
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
