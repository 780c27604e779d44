package wsclient

import (
	"cmp"
	"slices"

	"agentctl/protocol"
)

// A cursor is the state of a subscription on the connection. Owned by the event loop.
type cursor struct {
	session  string            // as requested; the session's id once known
	last     protocol.Position // of the last event put into the inbox
	known    bool              // last is valid
	pending  *request          // the unanswered subscribe; nil if none
	attached bool              // subscribe was answered: events are accepted
	stalled  bool              // the inbox is full
	raw      bool              // raw events were requested on this connection, after a misfit folded one

	// unsubscribed holds the sessions that were unsubscribed after the pending subscribe was sent.
	// One of them may be this session.
	unsubscribed []string

	ackSeq uint64 // newest seq to acknowledge

	faultSeq  uint64 // last.Seq at the last fault
	faultConn int    // number of the connection at the last fault; 0: none
}

// subscriptions holds the active subscriptions of a client. Owned by the event loop.
type subscriptions struct {
	loop      *eventLoop
	active    map[*Subscription]struct{}
	bySession map[string]*Subscription   // attached on this connection, by session id
	acksDue   map[*Subscription]struct{} // have an acknowledgement to send
	stalled   int                        // number with a full inbox; reading pauses while > 0
}

func newSubscriptions(l *eventLoop) subscriptions {
	return subscriptions{
		loop:      l,
		active:    map[*Subscription]struct{}{},
		bySession: map[string]*Subscription{},
		acksDue:   map[*Subscription]struct{}{},
	}
}

// attach starts or continues s after the last item its consumer took.
func (ss *subscriptions) attach(s *Subscription) {
	if s.cursor.known {
		s.cursor.last, s.cursor.known = s.inbox.position()
	}
	if !s.cursor.known && s.options.Since != nil {
		s.cursor.last, s.cursor.known = *s.options.Since, true
	}
	ss.active[s] = struct{}{}
	if ss.loop.conn == nil {
		ss.loop.connector.ensure()
		return
	}
	ss.subscribe(s)
}

// detach stops s and leaves its inbox as it is.
func (ss *subscriptions) detach(s *Subscription) {
	if _, ok := ss.active[s]; !ok {
		return
	}
	c := &s.cursor
	if ss.loop.conn != nil && (c.pending != nil || c.attached) {
		ss.loop.sendOnly(protocol.Command{Command: protocol.DoUnsubscribe, Session: c.session})
	}
	ss.remove(s)
	ss.recordUnsubscribe(c.session)
}

// recordUnsubscribe notes, for all pending subscribes, that a session was unsubscribed after them.
func (ss *subscriptions) recordUnsubscribe(session string) {
	for s := range ss.active {
		if s.cursor.pending != nil {
			s.cursor.unsubscribed = append(s.cursor.unsubscribed, session)
		}
	}
}

// end stops s and reports err to its consumer after the items in its inbox.
func (ss *subscriptions) end(s *Subscription, err error) {
	ss.remove(s)
	s.inbox.finish(err)
}

func (ss *subscriptions) remove(s *Subscription) {
	delete(ss.active, s)
	delete(ss.acksDue, s)
	ss.clearStall(s)
	ss.reset(s)
}

// reset forgets the attachment of s on the connection.
func (ss *subscriptions) reset(s *Subscription) {
	c := &s.cursor
	c.pending, c.attached, c.unsubscribed = nil, false, nil
	if ss.bySession[c.session] == s {
		delete(ss.bySession, c.session)
	}
}

func (ss *subscriptions) clearStall(s *Subscription) {
	if s.cursor.stalled {
		s.cursor.stalled = false
		ss.stalled--
	}
}

// resetAll is called when the connection is lost.
func (ss *subscriptions) resetAll() {
	for s := range ss.active {
		ss.clearStall(s)
		ss.reset(s)
		s.cursor.raw = false
	}
}

// subscribe sends a subscribe from the position of s. If the inbox is too full, resume sends it
// later.
func (ss *subscriptions) subscribe(s *Subscription) {
	ss.reset(s)
	if !s.inbox.hasRoom() {
		return
	}
	c := &s.cursor
	data := protocol.SubscribeData{Raw: s.options.Raw || c.raw}
	if !data.Raw {
		data.FoldMS = min(s.options.Fold.Milliseconds(), ss.loop.conn.hello.Limits.FoldMS)
	}
	if c.known {
		at := c.last
		data.Position = &at
	}
	r := &request{command: protocol.Command{
		Command: protocol.DoSubscribe, Session: c.session, Data: protocol.MustEncode(data),
	}}
	r.done = func(a *protocol.Answer, err error) { ss.handleAnswer(s, r, a, err) }
	c.pending = r
	ss.loop.send(r)
}

// resume is called when a full inbox is half empty again.
func (ss *subscriptions) resume(s *Subscription) {
	if _, ok := ss.active[s]; !ok {
		return
	}
	if s.cursor.stalled {
		ss.clearStall(s)
		ss.loop.heartbeat.recordActivity()
	}
	if ss.loop.conn != nil && !s.cursor.attached && s.cursor.pending == nil {
		ss.subscribe(s)
	}
}

// handleAnswer handles the answer to the subscribe r.
func (ss *subscriptions) handleAnswer(s *Subscription, r *request, a *protocol.Answer, err error) {
	var result protocol.SubscribeResult
	answered := err == nil
	if answered {
		err = decodeAnswer(a, &result)
	}
	c := &s.cursor
	if c.pending != r { // superseded; it may have moved the server's cursor of another subscription
		if other := ss.bySession[result.Session]; other != nil && other != s {
			ss.subscribe(other)
		}
		if _, active := ss.active[s]; !active {
			ss.recordUnsubscribe(result.Session)
		}
		return
	}
	c.pending = nil
	switch {
	case answered && protocol.CodeOf(err) == protocol.CodeShuttingDown:
		ss.loop.drop(err)
		return
	case err != nil:
		ss.end(s, err)
		return
	}
	if slices.Contains(c.unsubscribed, result.Session) || slices.Contains(c.unsubscribed, c.session) {
		ss.subscribe(s) // the unsubscribe may have ended this attachment
		return
	}
	c.unsubscribed = nil
	if older := ss.bySession[result.Session]; older != nil {
		ss.end(older, ErrReplaced)
	}
	c.session, c.attached, c.ackSeq = result.Session, true, 0
	ss.bySession[result.Session] = s
	if result.Mode == protocol.ModeResume && c.known {
		c.last.Epoch = result.After.Epoch
		result.After = c.last
	} else {
		c.last, c.known = result.After, true
	}
	ss.put(s, Item{Attached: &result}, len(a.Result))
}

// handleEvent delivers each event once and in order. After a gap, s subscribes again from its
// position; after a folded event that overlaps delivered ones, it does so with raw events.
func (ss *subscriptions) handleEvent(s *Subscription, in *incoming) {
	c, e := &s.cursor, in.event
	switch first := e.First(); {
	case !c.attached:
		return
	case e.Type == protocol.ClientDetached && ss.handleDetached(s, e):
		return
	case !e.Durable():
	case e.Seq <= c.last.Seq:
		return
	case first > c.last.Seq+1, first <= c.last.Seq:
		c.raw = c.raw || first <= c.last.Seq
		if ss.allowRetry(s, &GapError{Session: e.Session, After: c.last.Seq, First: first}) {
			ss.subscribe(s)
		}
		return
	default:
		c.last.Seq = e.Seq
	}
	ss.put(s, Item{Event: e, Raw: in.raw}, len(in.raw)+1)
}

// handleDetached reports whether e ends this client's attachment. If so, s subscribes again; the
// answer shows whether the cause persists.
func (ss *subscriptions) handleDetached(s *Subscription, e *protocol.Event) bool {
	var detached protocol.Client
	if e.Decode(&detached) != nil || detached.Client != ss.loop.conn.hello.Connection || detached.Reason == "" {
		return false
	}
	text := cmp.Or(detached.Message, "the server ended the subscription")
	err := protocol.Errorf(protocol.Code(detached.Reason), "%.500s", text)
	if ss.allowRetry(s, err) {
		ss.subscribe(s)
	}
	return true
}

func (ss *subscriptions) put(s *Subscription, it Item, bytes int) {
	if s.inbox.put(it, int64(bytes)) && !s.cursor.stalled {
		s.cursor.stalled = true
		ss.stalled++
	}
}

// recordFault records an invalid line of a session. If the session has no subscription, the line
// may concern any of them.
func (ss *subscriptions) recordFault(session string, err error) {
	if s := ss.bySession[session]; s != nil {
		ss.allowRetry(s, err)
		return
	}
	for _, s := range ss.bySession {
		ss.allowRetry(s, err)
	}
}

// allowRetry records a fault of s and returns true. The second consecutive fault at the same
// position ends s with err and returns false.
func (ss *subscriptions) allowRetry(s *Subscription, err error) bool {
	c := &s.cursor
	opened := ss.loop.connector.opened
	if c.faultConn != 0 && c.faultSeq == c.last.Seq && opened-c.faultConn <= 1 {
		ss.end(s, err)
		return false
	}
	c.faultSeq, c.faultConn = c.last.Seq, opened
	return true
}

// scheduleAck acknowledges events up to p with the next message.
func (ss *subscriptions) scheduleAck(s *Subscription, p protocol.Position) {
	c := &s.cursor
	if !c.attached || p.Epoch != c.last.Epoch || p.Seq == 0 {
		return
	}
	if c.ackSeq != p.Seq {
		c.ackSeq = p.Seq
		ss.acksDue[s] = struct{}{}
	}
}

// appendAcks appends the newest due acknowledgement of each subscription to message.
func (ss *subscriptions) appendAcks(message []byte) []byte {
	for s := range ss.acksDue {
		delete(ss.acksDue, s)
		if s.cursor.attached {
			message = appendLine(message, protocol.MustEncode(protocol.Command{
				Command: protocol.DoAck, Session: s.cursor.session,
				Data: protocol.MustEncode(protocol.AckData{Seq: s.cursor.ackSeq}),
			}))
		}
	}
	return message
}
