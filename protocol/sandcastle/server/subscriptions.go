package server

import (
	"maps"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// subscriptions are the sessions that the streams of a client follow. Each is subscribed once.
type subscriptions struct {
	x         *exchange
	bySession map[string]*subscription
}

// handleEvent handles an event of agentctl's server.
func (l *subscriptions) handleEvent(e *protocol.Event) {
	sub := l.bySession[e.Session]
	if sub == nil {
		return
	}
	why, ended := l.x.Unsubscribed(e)
	switch {
	case ended && why == protocol.CodeNoSession && sub.phase != phaseDeleted:
		l.drop(sub)
		return
	case sub.phase != phaseCatchingUp && sub.phase != phaseLive:
		return
	case e.Type == protocol.CaughtUp:
		sub.phase = phaseLive
		for _, st := range sub.streams {
			if !st.started {
				sub.sendInitialState(st)
			}
		}
		return
	case !e.Durable() || sub.Known(e):
		return
	case !sub.Contiguous(e): // of another subscription
		l.resubscribe(sub)
		return
	}
	before := len(sub.State.Queue)
	at := queueIndex(sub.State, e)
	if sub.Apply(e) {
		sub.encodeEvent(e, at, before)
		l.bound(sub)
	}
}

// flush sends pending values, one chunk for each stream that awaits no Ack. Answers precede it.
func (l *subscriptions) flush() {
	for _, sub := range l.ordered() {
		for _, st := range slices.Clone(sub.streams) {
			if st.awaitingAck || len(st.pending) == 0 {
				if st.ending && len(st.pending) == 0 {
					l.x.succeed(st.call, nil)
				}
				continue
			}
			l.x.send(protocol.MustEncode(wire.ChunkMessage{Tag: wire.TagChunk, RequestID: st.call.id, Values: st.pending}))
			st.pending, st.bytes, st.awaitingAck = nil, 0, true
		}
	}
}

// ordered lists the subscriptions in a stable order.
func (l *subscriptions) ordered() (list []*subscription) {
	for _, id := range slices.Sorted(maps.Keys(l.bySession)) {
		list = append(list, l.bySession[id])
	}
	return list
}

// subscribe opens a stream.
func (l *subscriptions) subscribe(c *rpcCall) {
	c.stream = &stream{call: c}
	c.onEnd = func() { l.detach(c.stream) }
	if sub := l.bySession[c.SessionID]; sub != nil {
		l.attach(sub, c.stream)
		return
	}
	if len(l.bySession) >= wire.MaxSubscriptions {
		l.x.end(c, wire.DefectExit(c.id, "too many sessions followed"))
		return
	}
	request(l.x, c, protocol.DoSubscribe, c.SessionID, "", protocol.SubscribeData{}, func(r protocol.SubscribeResult) {
		sub := l.bySession[r.Session]
		switch {
		case c.ended && sub == nil:
			l.x.Request(protocol.DoUnsubscribe, r.Session, "", nil, nil)
			return
		case sub == nil:
			sub = &subscription{phase: phaseSubscribing}
			l.bySession[r.Session] = sub
			sub.handleSubscribed(&r)
		case sub.phase == phasePaused: // subscribed under another name, and paused
			l.pause(sub)
		default:
			// Subscribed under another name: agentctl's server restarted the subscription, so
			// resume from the current position.
			l.resubscribe(sub)
		}
		if !c.ended {
			l.attach(sub, c.stream)
		}
	})
}

// attach attaches a stream to a subscription. It starts now, or after catching up.
func (l *subscriptions) attach(sub *subscription, st *stream) {
	st.subscription = sub
	sub.streams = append(sub.streams, st)
	if sub.phase == phaseLive {
		sub.sendInitialState(st)
	}
	l.resume(sub)
}

// detach removes a stream. The last one ends the subscription.
func (l *subscriptions) detach(st *stream) {
	sub := st.subscription
	if sub == nil {
		return
	}
	st.subscription = nil
	sub.streams = slices.DeleteFunc(sub.streams, func(o *stream) bool { return o == st })
	if len(sub.streams) > 0 {
		l.resume(sub)
		return
	}
	if sub.phase != phaseDeleted {
		l.x.Request(protocol.DoUnsubscribe, sub.Session, "", nil, nil)
	}
	delete(l.bySession, sub.Session)
}

// acknowledge notes that the client has the values sent to a stream.
func (l *subscriptions) acknowledge(st *stream) {
	st.awaitingAck = false
	l.resume(st.subscription)
}

// resubscribe resumes a subscription from its position.
func (l *subscriptions) resubscribe(sub *subscription) {
	sub.phase = phaseSubscribing
	d := protocol.SubscribeData{Position: sub.Position()}
	sub.attempts++
	attempt := sub.attempts
	l.x.Request(protocol.DoSubscribe, sub.Session, "", d, func(a protocol.Answer) {
		if l.bySession[sub.Session] != sub || sub.phase != phaseSubscribing || sub.attempts != attempt {
			return
		}
		r, err := codec.DecodeResult[protocol.SubscribeResult](a)
		if err != nil {
			l.drop(sub)
			return
		}
		sub.handleSubscribed(&r)
	})
}

// bound enforces the bounds of a session's streams.
func (l *subscriptions) bound(sub *subscription) {
	if !slices.ContainsFunc(sub.streams, func(st *stream) bool { return !st.isBehind(maxPending) }) {
		l.pause(sub)
		return
	}
	for _, st := range slices.Clone(sub.streams) {
		if st.isBehind(maxBehind) {
			l.x.end(st.call, wire.DefectExit(st.call.id, "the stream is too far behind: subscribe again"))
		}
	}
}

// pause ends the native subscription while the client acknowledges nothing.
func (l *subscriptions) pause(sub *subscription) {
	sub.phase = phasePaused
	l.x.Request(protocol.DoUnsubscribe, sub.Session, "", nil, nil)
}

// resume restarts a paused subscription when one of its streams has caught up.
func (l *subscriptions) resume(sub *subscription) {
	if sub == nil || sub.phase != phasePaused {
		return
	}
	if slices.ContainsFunc(sub.streams, func(st *stream) bool { return !st.isBehind(maxPending / 2) }) {
		l.resubscribe(sub)
	}
}

// drop ends the streams of a deleted session.
func (l *subscriptions) drop(sub *subscription) {
	sub.phase = phaseDeleted
	sub.sendEvent(wire.SessionEvent{Tag: wire.SessionDeleted, SessionID: sub.Session})
	for _, st := range slices.Clone(sub.streams) {
		st.ending = true
		if !st.started {
			l.x.fail(st.call, protocol.Errorf(protocol.CodeNoSession, "the session was deleted"))
		}
	}
}
