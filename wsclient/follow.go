package wsclient

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
)

// A follow is how far a subscription has come on the wire. Owned by the loop.
type follow struct {
	session string            // as asked for; its id once known
	last    protocol.Position // of the last event put into the inbox
	known   bool              // last says something
	asked   *call             // the subscribe that waits for its answer
	live    bool              // answered: events are taken
	stalled bool              // the inbox is full
	raw     bool              // asked for raw events on this link, because folded ones did not fit
	ended   []string          // sessions that were unsubscribed after the subscribe that waits, which may be this one

	ackTo uint64 // the newest seq to acknowledge

	faultAt   uint64 // last.Seq when something could not be taken,
	faultLink int    // and the link it came on; 0: never
}

// attach starts or continues the following of s, after what its consumer took.
func (l *loop) attach(s *Subscription) {
	if s.follow.known {
		s.follow.last, s.follow.known = s.inbox.position()
	}
	if !s.follow.known && s.options.Since != nil {
		s.follow.last, s.follow.known = *s.options.Since, true
	}
	l.subs[s] = struct{}{}
	if l.link == nil {
		l.need()
		return
	}
	l.ask(s)
}

// detach stops following s; its inbox is not touched.
func (l *loop) detach(s *Subscription) {
	if _, ok := l.subs[s]; !ok {
		return
	}
	f := &s.follow
	if l.link != nil && (f.asked != nil || f.live) {
		l.send(&call{
			command: protocol.Command{Command: protocol.DoUnsubscribe, Session: f.session},
			answer:  func(*protocol.Answer, error) {},
		})
	}
	l.forget(s)
	l.ended(f.session)
}

// ended tells the subscriptions that wait for their answer that a session was unsubscribed after they asked.
func (l *loop) ended(session string) {
	for s := range l.subs {
		if s.follow.asked != nil {
			s.follow.ended = append(s.follow.ended, session)
		}
	}
}

// end stops following s and tells its consumer why.
func (l *loop) end(s *Subscription, err error) {
	l.forget(s)
	s.inbox.finish(err)
}

func (l *loop) forget(s *Subscription) {
	delete(l.subs, s)
	delete(l.due, s)
	l.unstall(s)
	l.cut(s)
}

// cut ends what the link knows of s.
func (l *loop) cut(s *Subscription) {
	f := &s.follow
	f.asked, f.live, f.ended = nil, false, nil
	if l.routes[f.session] == s {
		delete(l.routes, f.session)
	}
}

func (l *loop) unstall(s *Subscription) {
	if s.follow.stalled {
		s.follow.stalled = false
		l.stalled--
	}
}

// follow asks a new link for all subscriptions.
func (l *loop) follow() {
	for s := range l.subs {
		l.ask(s)
	}
}

// unfollow is called when the link is lost.
func (l *loop) unfollow() {
	for s := range l.subs {
		l.unstall(s)
		l.cut(s)
		s.follow.raw = false
	}
}

// ask subscribes, from where s stands. A consumer that is far behind is asked for once it has room.
func (l *loop) ask(s *Subscription) {
	l.cut(s)
	if !s.inbox.hasRoom() {
		return
	}
	f := &s.follow
	data := protocol.SubscribeData{Raw: s.options.Raw || f.raw}
	if f.known {
		at := f.last
		data.Position = &at
	}
	c := &call{command: protocol.Command{Command: protocol.DoSubscribe, Session: f.session, Data: protocol.MustEncode(data)}}
	c.answer = func(a *protocol.Answer, err error) { l.attached(s, c, a, err) }
	f.asked = c
	l.send(c)
}

// room is called when a full inbox has been emptied halfway.
func (l *loop) room(s *Subscription) {
	if _, ok := l.subs[s]; !ok {
		return
	}
	if s.follow.stalled {
		l.unstall(s)
		l.beat.heard()
	}
	if l.link != nil && !s.follow.live && s.follow.asked == nil {
		l.ask(s)
	}
}

// attached takes the answer to the subscribe c.
func (l *loop) attached(s *Subscription, c *call, a *protocol.Answer, err error) {
	var r protocol.SubscribeResult
	if err == nil && a.Error == nil {
		if bad := json.Unmarshal(a.Result, &r); bad != nil {
			err = newDecodeError(a.Result, bad)
		}
	}
	f := &s.follow
	if f.asked != c { // given up meanwhile; if it moved another subscription's cursor, that one is asked for again
		if other := l.routes[r.Session]; other != nil && other != s {
			l.ask(other)
		}
		if _, on := l.subs[s]; !on {
			l.ended(r.Session)
		}
		return
	}
	f.asked = nil
	switch {
	case err != nil:
		l.end(s, err)
		return
	case a.Error != nil && a.Error.Code == protocol.CodeShuttingDown:
		l.drop(a.Error)
		return
	case a.Error != nil:
		l.end(s, a.Error)
		return
	}
	if slices.Contains(f.ended, r.Session) || slices.Contains(f.ended, f.session) { // it may have ended this one
		l.ask(s)
		return
	}
	f.ended = nil
	if older := l.routes[r.Session]; older != nil {
		l.end(older, ErrReplaced)
	}
	f.session, f.live, f.ackTo = r.Session, true, 0
	l.routes[r.Session] = s
	if r.Mode == protocol.ModeResume && f.known {
		f.last.Epoch = r.After.Epoch
		r.After = f.last
	} else {
		f.last, f.known = r.After, true
	}
	l.put(s, Item{Attached: &r}, len(a.Result))
}

// event takes an event of a session that s follows: each once, in order. What does not continue the last one is asked for
// again from there; a folded event that holds some of what s has, raw.
func (l *loop) event(s *Subscription, in *incoming) {
	f, e := &s.follow, in.event
	switch first := e.First(); {
	case !f.live:
		return
	case e.Type == protocol.ClientDetached && l.dismissed(s, e):
		return
	case !e.Durable():
	case e.Seq <= f.last.Seq:
		return
	case first > f.last.Seq+1, first <= f.last.Seq:
		f.raw = f.raw || first <= f.last.Seq
		if l.fault(s, &GapError{Session: e.Session, After: f.last.Seq, First: first}) {
			l.ask(s)
		}
		return
	default:
		f.last.Seq = e.Seq
	}
	l.put(s, Item{Event: e, Raw: in.raw}, len(in.raw)+1)
}

// dismissed tells whether the event says that the server does not follow s for this connection any more. It is asked again, and
// answers why, unless it helps.
func (l *loop) dismissed(s *Subscription, e *protocol.Event) bool {
	var gone protocol.Client
	if e.Decode(&gone) != nil || gone.Client != l.link.hello.Connection || gone.Reason == "" {
		return false
	}
	if l.fault(s, protocol.Errorf(protocol.Code(gone.Reason), "the server does not follow the session any more")) {
		l.ask(s)
	}
	return true
}

func (l *loop) put(s *Subscription, it Item, bytes int) {
	if s.inbox.put(it, int64(bytes)) && !s.follow.stalled {
		s.follow.stalled = true
		l.stalled++
	}
}

// fault notes that something for s could not be taken. The second time in a row at the same place it ends s with err and
// returns false.
func (l *loop) fault(s *Subscription, err error) bool {
	f := &s.follow
	if f.faultLink != 0 && f.faultAt == f.last.Seq && l.links-f.faultLink <= 1 {
		l.end(s, err)
		return false
	}
	f.faultAt, f.faultLink = f.last.Seq, l.links
	return true
}

// ack notes what the consumer of s took, for the next message.
func (l *loop) ack(s *Subscription, p protocol.Position) {
	f := &s.follow
	if !f.live || p.Epoch != f.last.Epoch || p.Seq == 0 {
		return
	}
	if f.ackTo != p.Seq {
		f.ackTo = p.Seq
		l.due[s] = struct{}{}
	}
}

// acks appends the newest ack of every subscription that has one to send.
func (l *loop) acks(message []byte) []byte {
	for s := range l.due {
		delete(l.due, s)
		if s.follow.live {
			message = appendLine(message, protocol.MustEncode(protocol.Command{
				Command: protocol.DoAck, Session: s.follow.session, Data: protocol.MustEncode(protocol.AckData{Seq: s.follow.ackTo}),
			}))
		}
	}
	return message
}
