//go:build linux

package crash

import (
	"context"
	"fmt"
	"sync"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// A recorder holds everything one client saw of one session.
type recorder struct {
	session string
	options wsclient.SubscribeOptions

	mu    sync.Mutex
	lines map[uint64]string // raw lines by seq, of events that are not folded
	at    protocol.Position
	state *protocol.State // from the log's start or a snapshot
	err   error
}

// follow records events until ctx ends. After a reconnect the events must continue where they
// stopped, in the same epoch.
func (r *recorder) follow(ctx context.Context, c *wsclient.Client, then func(*protocol.Event)) {
	r.lines = map[uint64]string{}
	for it, err := range c.Subscribe(r.session, r.options).Events(ctx) {
		r.mu.Lock()
		switch {
		case err != nil:
			r.err = err
		case it.Attached != nil:
			r.err = r.attach(it.Attached)
		case it.Event.Durable():
			r.err = r.apply(it)
		}
		failed := r.err != nil
		r.mu.Unlock()
		if failed {
			return
		}
		if it.Event != nil && then != nil {
			then(it.Event)
		}
	}
}

func (r *recorder) attach(a *protocol.SubscribeResult) error {
	if r.state != nil {
		if a.Mode != protocol.ModeResume || a.After != r.at {
			return fmt.Errorf("at %v, attached again with %s %s after %v", r.at, a.Mode, a.Reason, a.After)
		}
		return nil
	}
	r.at, r.state = a.After, &protocol.State{Session: r.session}
	if a.Snapshot != nil {
		r.state = a.Snapshot.State
	}
	return nil
}

func (r *recorder) apply(it wsclient.Item) error {
	e := it.Event
	if e.First() != r.at.Seq+1 {
		return fmt.Errorf("at %v, got %d..%d", r.at, e.First(), e.Seq)
	}
	r.at.Seq = e.Seq
	if e.FirstSeq == 0 {
		r.lines[e.Seq] = string(it.Raw)
	}
	return r.state.Apply(e)
}

func (r *recorder) position() (protocol.Position, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.at, r.err
}
