package wsclient

import (
	"context"
	"iter"
	"sync"
	"time"
)

// A Phase is what a client is doing about its connection.
type Phase string

// The phases.
const (
	PhaseConnecting   Phase = "connecting"   // for the first time, or waiting to try again
	PhaseOpen         Phase = "open"         // hello was answered
	PhaseReconnecting Phase = "reconnecting" // it was open before
	PhaseOffline      Phase = "offline"      // not trying: not yet asked, refused, or the attempts are used up
	PhaseClosed       Phase = "closed"       // for good
)

// ConnState is a client's connection at a moment.
type ConnState struct {
	Phase   Phase
	Attempt int       // the attempt under way or waited for, from 1; 0 when there is none
	RetryAt time.Time // when the attempt starts; zero when it is under way or there is none
	Err     error     // why the last attempt or connection ended, or the client was closed; nil once open
}

// A stateBox holds the newest state for any number of readers.
type stateBox struct {
	mu      sync.Mutex
	now     ConnState
	changed chan struct{} // closed by the next set
}

func newStateBox() *stateBox {
	return &stateBox{now: ConnState{Phase: PhaseOffline}, changed: make(chan struct{})}
}

func (b *stateBox) set(s ConnState) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = s
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *stateBox) get() (ConnState, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now, b.changed
}

// State returns the connection's state now.
func (c *Client) State() ConnState {
	s, _ := c.state.get()
	return s
}

// States yields the state now and then its changes, until the client is closed, ctx ends or the caller stops. A slow caller
// misses what was overtaken, never the newest.
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
