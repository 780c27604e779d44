package wsclient

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"

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
			case acks.dry(s.c.window.Load()):
				s.ack(acks)
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
