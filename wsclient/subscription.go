package wsclient

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"time"

	"agentctl/protocol"
)

// SubscribeOptions configure a subscription.
type SubscribeOptions struct {
	Since *protocol.Position // nil: snapshot of the last turn boundary and the events since
	Raw   bool               // never receive folded events

	// Fold is the interval in which the server joins live deltas, if it can and Raw is not set. 0:
	// it sends each.
	Fold time.Duration
}

// An Item is one element of a subscription. Exactly one of Attached and Event is set.
type Item struct {
	Attached *protocol.SubscribeResult // first item, and again after each reconnect
	Event    *protocol.Event           // durable; or ephemeral, without seq
	Raw      []byte                    // the event's line as received, without newline; read-only
}

// A Subscription follows one session. Its methods are safe for concurrent use, but only one call
// of Events may run at a time.
type Subscription struct {
	client  *Client
	options SubscribeOptions
	inbox   *inbox
	reading atomic.Bool // Events is running
	cursor  cursor      // owned by the event loop
}

var errAlreadyReading = errors.New("another call of Events is running")

// Subscribe returns a subscription to a session, given by id, exact name or unique id prefix. It
// does nothing until Events is called. A client follows a session once: a newer subscription to
// the same session ends the older one with ErrReplaced.
func (c *Client) Subscribe(session string, o SubscribeOptions) *Subscription {
	s := &Subscription{client: c, options: o, inbox: newInbox(c.options.Window)}
	s.cursor.session = session
	return s
}

// Events yields the attachment and then the session's events, each once and in order, across any
// number of reconnects. A later call continues after Position.
//
// It ends without an error when ctx ends, the caller stops, or the subscription or client is
// closed. It ends with an error if the session cannot be followed: the server's *protocol.Error,
// a *ConnectError, *DecodeError, *GapError, *panics.Error or ErrReplaced.
func (s *Subscription) Events(ctx context.Context) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		if !s.reading.CompareAndSwap(false, true) {
			yield(Item{}, errAlreadyReading)
			return
		}
		defer s.reading.Store(false)
		if !s.inbox.restart() || !s.client.post(func(l *eventLoop) { l.subscriptions.attach(s) }) {
			return
		}
		defer s.client.post(func(l *eventLoop) { l.subscriptions.detach(s) })
		batch := newAckBatch(&s.client.owed)
		defer batch.reset()
		for ctx.Err() == nil {
			r := s.inbox.take()
			if r.room {
				s.client.post(func(l *eventLoop) { l.subscriptions.resume(s) })
			}
			switch {
			case r.ok:
				if !yield(r.Item, nil) {
					return
				}
				if batch.add(&r.entry, s.client.window.Load()) {
					s.ack(batch)
				}
			case r.over:
				if r.err != nil {
					yield(Item{}, r.err)
				}
				return
			case batch.dueWhenIdle(s.client.window.Load()):
				s.ack(batch)
			default:
				select {
				case <-s.inbox.ready:
				case <-batch.timer.C:
					s.ack(batch)
				case <-ctx.Done():
				}
			}
		}
	}
}

// Position returns the position of the last item that Events yielded. Before the first item it
// returns SubscribeOptions.Since, or zero.
func (s *Subscription) Position() protocol.Position {
	p, known := s.inbox.position()
	if !known && s.options.Since != nil {
		return *s.options.Since
	}
	return p
}

// Close ends the subscription and a running Events. Further calls do nothing.
func (s *Subscription) Close() {
	s.inbox.close()
	if s.reading.Load() {
		s.client.post(func(l *eventLoop) { l.subscriptions.detach(s) })
	}
}

// ack acknowledges everything the consumer has taken.
func (s *Subscription) ack(b *ackBatch) {
	p, _ := s.inbox.position()
	b.reset()
	s.client.post(func(l *eventLoop) { l.subscriptions.scheduleAck(s, p) })
}
