package wsclient

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"time"

	"agentctl/protocol"
)

// SubscribeOptions says from where and how a session is followed.
type SubscribeOptions struct {
	Since *protocol.Position // nil: the snapshot of the last turn boundary and the events since
	Raw   bool               // never folded
}

// An Item is what a subscription yields: how it was attached, or an event.
type Item struct {
	Attached *protocol.SubscribeResult // at the start and after every reconnect
	Event    *protocol.Event           // durable, or ephemeral and without seq
	Raw      []byte                    // the event's line as on the wire, without its newline; not to be changed
}

// A Subscription follows one session.
type Subscription struct {
	c       *Client
	options SubscribeOptions
	inbox   *inbox
	busy    atomic.Bool // Events is running
	follow  follow      // owned by the loop
}

var errBusy = errors.New("the subscription is being read already")

// Subscribe returns a subscription to a session (id, exact name or unique id prefix). It does nothing until Events. A client
// follows a session once: a newer subscription to it ends the older with ErrReplaced.
func (c *Client) Subscribe(session string, o SubscribeOptions) *Subscription {
	s := &Subscription{c: c, options: o, inbox: newInbox(c.options.Window)}
	s.follow.session = session
	return s
}

// Events follows the session: attached, then its events, each once and in order, over any number of reconnects. It ends without
// an error when ctx ends, the caller stops, or Close is called on the subscription or the client; with one when the session
// cannot be followed: the server's *protocol.Error, *ConnectError, *DecodeError, *GapError, ErrReplaced. Called again it goes
// on after Position. One caller at a time.
func (s *Subscription) Events(ctx context.Context) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		if !s.busy.CompareAndSwap(false, true) {
			yield(Item{}, errBusy)
			return
		}
		defer s.busy.Store(false)
		if !s.inbox.empty() || !s.c.post(func(l *loop) { l.attach(s) }) {
			return
		}
		defer s.c.post(func(l *loop) { l.detach(s) })
		acks := newAcks()
		defer acks.timer.Stop()
		for ctx.Err() == nil {
			t := s.inbox.take()
			if t.room {
				s.c.post(func(l *loop) { l.room(s) })
			}
			switch {
			case t.ok:
				if !yield(t.Item, nil) {
					return
				}
				if acks.took(&t.entry, s.c.window.Load()) {
					s.ack(acks)
				}
			case t.over:
				if t.err != nil {
					yield(Item{}, t.err)
				}
				return
			default:
				select {
				case <-s.inbox.ready:
				case <-acks.timer.C:
					s.ack(acks)
				case <-ctx.Done():
				}
			}
		}
	}
}

// Position returns the place of the last item that Events yielded; before the first, that of SubscribeOptions.Since or zero.
func (s *Subscription) Position() protocol.Position {
	p, known := s.inbox.position()
	if !known && s.options.Since != nil {
		return *s.options.Since
	}
	return p
}

// Close ends the subscription. It may be called again.
func (s *Subscription) Close() {
	s.inbox.close()
	if s.busy.Load() {
		s.c.post(func(l *loop) { l.detach(s) })
	}
}

// ack tells the server what the consumer took.
func (s *Subscription) ack(a *acks) {
	p, _ := s.inbox.position()
	a.reset()
	s.c.post(func(l *loop) { l.ack(s, p) })
}

// When to acknowledge, at the latest: after half the window, ackEvents, or ackWithin of the first event that was not.
const (
	ackEvents = 64
	ackWithin = 50 * time.Millisecond
)

// acks counts what a consumer took and did not yet acknowledge. Owned by the consumer's goroutine.
type acks struct {
	events int
	bytes  int64
	timer  *time.Timer // runs while there is something to acknowledge
}

func newAcks() *acks {
	a := &acks{timer: time.NewTimer(time.Hour)}
	a.timer.Stop()
	return a
}

// took counts an entry; true when it is time to acknowledge. A window of 0 wants no acks.
func (a *acks) took(e *entry, window int64) bool {
	if window <= 0 || e.Event == nil || !e.Event.Durable() {
		return false
	}
	if a.events++; a.events == 1 {
		a.timer.Reset(ackWithin)
	}
	a.bytes += e.bytes
	select {
	case <-a.timer.C:
		return true
	default:
		return a.events >= ackEvents || a.bytes >= window/2
	}
}

func (a *acks) reset() {
	a.events, a.bytes = 0, 0
	a.timer.Stop()
}
