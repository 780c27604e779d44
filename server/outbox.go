package server

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// An outbox is the output side of a connection: the control buffer, the subscriptions and the
// window of unacknowledged bytes. Sessions, the hub and the reader fill it; the writer drains it.
type outbox struct {
	wake    chan struct{} // capacity 1
	waiting atomic.Bool   // the writer waits for wake

	mu      sync.Mutex // guards the fields below; held briefly
	control control
	subs    []*subscription
	window  int64 // maximum unacked; 0: the client does not acknowledge
	unacked int64 // bytes, of all subscriptions
	stalled bool  // the writer waits for an ack
}

// Wake wakes the writer if it waits. It implements eventlog.Waker.
func (o *outbox) Wake() {
	if o.waiting.CompareAndSwap(true, false) {
		select {
		case o.wake <- struct{}{}:
		default:
		}
	}
}

// Notify queues an ephemeral event. It implements session.Subscriber and list.Watcher.
func (o *outbox) Notify(key string, line []byte) {
	o.mu.Lock()
	o.control.put(key, line)
	o.mu.Unlock()
	o.Wake()
}

// Acked implements session.Subscriber.
func (o *outbox) Acked(id string) (uint64, int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.subs {
		if s.session == id {
			if o.window == 0 {
				return s.after, 0
			}
			if s.fold.waits(s) {
				return s.log.Position().Seq, s.unacked
			}
			return s.acked, s.unacked
		}
	}
	return 0, 0
}

// addAnswer queues an answer, which holds a slot.
func (o *outbox) addAnswer(line []byte) {
	o.mu.Lock()
	o.control.answers = append(o.control.answers, line)
	o.mu.Unlock()
	o.Wake()
}

// setWindow sets the maximum of unacknowledged bytes; 0 for a client that does not acknowledge.
func (o *outbox) setWindow(bytes int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.window = bytes
}

// subscribed reports whether there is a subscription of a session.
func (o *outbox) subscribed(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.subs, func(s *subscription) bool { return s.session == id })
}

// subscribe adds a subscription.
func (o *outbox) subscribe(s *subscription) {
	o.mu.Lock()
	o.subs = append(o.subs, s)
	o.mu.Unlock()
	o.Wake()
}

// unsubscribe removes the subscription of a session. It reports whether there was one.
func (o *outbox) unsubscribe(id string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.remove(id)
}

// remove requires mu.
func (o *outbox) remove(id string) bool {
	i := slices.IndexFunc(o.subs, func(s *subscription) bool { return s.session == id })
	if i < 0 {
		return false
	}
	o.unacked -= o.subs[i].unacked
	o.subs[i].removed = true
	o.subs = slices.Delete(o.subs, i, i+1)
	return true
}

// unsubscribeAll removes and returns all subscriptions.
func (o *outbox) unsubscribeAll() []*subscription {
	o.mu.Lock()
	defer o.mu.Unlock()
	subs := o.subs
	o.subs = nil
	return subs
}

// fail removes a subscription. It reports whether the subscription was still there.
func (o *outbox) fail(s *subscription) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s.removed {
		return false
	}
	o.remove(s.session)
	return true
}

// room returns the seq up to which a subscription was written, and the bytes left in the window.
// owing reports whether any byte is unacknowledged.
func (o *outbox) room(s *subscription) (after uint64, room int64, owing bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	room = math.MaxInt64
	if o.window > 0 {
		room = o.window - o.unacked
	}
	return s.after, room, o.unacked > 0
}

// wrote notes that a subscription's events up to last, of the given size in bytes, are being
// written. It returns false when the subscription was removed.
func (o *outbox) wrote(s *subscription, last uint64, bytes int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s.removed {
		return false
	}
	if last != s.after {
		s.after = last
		if o.window > 0 {
			s.marks = append(s.marks, ackMark{last, bytes})
			s.unacked += bytes
			o.unacked += bytes
		}
	}
	return true
}

// take moves control lines to buf, returns how many of them are answers, and the subscriptions
// appended to subs.
func (o *outbox) take(buf []byte, subs []*subscription) ([]byte, int, []*subscription) {
	o.mu.Lock()
	defer o.mu.Unlock()
	buf, answers := o.control.take(buf)
	return buf, answers, append(subs, o.subs...)
}

// A control buffer holds the lines that a connection writes first: answers, each with its slot, and
// the newest ephemeral event of each key.
type control struct {
	answers [][]byte
	keys    []string // of events, in order
	events  map[string][]byte
}

// put adds an ephemeral event. It replaces a waiting one with the same key.
func (k *control) put(key string, line []byte) {
	if k.events == nil {
		k.events = map[string][]byte{}
	}
	if _, waiting := k.events[key]; !waiting {
		k.keys = append(k.keys, key)
	}
	k.events[key] = line
}

// take moves lines to buf and returns how many of them are answers. It stops at maxWrite bytes, so
// that many large answers are written as several messages, each with its own timeout.
func (k *control) take(buf []byte) ([]byte, int) {
	answers, keys := 0, 0
	for ; answers < len(k.answers) && len(buf) < maxWrite; answers++ {
		buf = append(append(buf, k.answers[answers]...), '\n')
	}
	for ; keys < len(k.keys) && len(buf) < maxWrite; keys++ {
		buf = append(append(buf, k.events[k.keys[keys]]...), '\n')
		delete(k.events, k.keys[keys])
	}
	k.answers, k.keys = slices.Delete(k.answers, 0, answers), slices.Delete(k.keys, 0, keys)
	return buf, answers
}
