package session

import (
	"cmp"
	"slices"
	"time"

	"agentctl/protocol"
)

// A Subscriber is a connection subscribed to sessions. A session never waits for it: no method may
// block.
type Subscriber interface {
	Waker

	// ID is unique among the server's connections.
	ID() string

	// Actor returns the user of the connection, and Program the name of its client program.
	Actor() protocol.Actor
	Program() string

	// Notify queues an ephemeral event, a line without its newline. Of lines with one key only the
	// newest is sent.
	Notify(key string, line []byte)

	// Acked returns the seq up to which the client has acknowledged the session and the bytes sent
	// beyond it. For a client that does not acknowledge, everything written counts as acknowledged.
	Acked(session string) (seq uint64, bytes int64)
}

// An Attachment is the start of a subscription: the answer, and the log to read on from
// Result.After.
type Attachment struct {
	Result protocol.SubscribeResult
	Log    *Log
}

// subscribers are the subscriptions of a session. Owned by its goroutine.
type subscribers struct {
	list         []*attachedClient
	nextLagCheck time.Time // zero: not scheduled
	nextLook     time.Time // when to send a look that waits; zero: none does
}

type attachedClient struct {
	subscriber Subscriber
	client     protocol.Client // as sent last
	lagging    bool            // was sent as lagging
	presence   presence
}

const (
	lagPeriod = time.Second
	lagEvents = 64 // a smaller lag is not sent

	// lookTime is how long a session has subscribers before its agent starts. A subscription for
	// the preview of a session, or to read its events, is shorter.
	lookTime = time.Second
)

// connected reports whether a connection is subscribed.
func (u *subscribers) connected(conn string) bool {
	return slices.ContainsFunc(u.list, func(c *attachedClient) bool { return c.subscriber.ID() == conn })
}

// remove removes the subscription of a connection.
func (u *subscribers) remove(conn string) {
	u.list = slices.DeleteFunc(u.list, func(c *attachedClient) bool { return c.subscriber.ID() == conn })
}

// attach subscribes to the session. The answer and the log after Result.After have neither gap nor
// repeat between them. reply is called once everything that the answer reports is visible.
func (s *Session) attach(sub Subscriber, d *protocol.SubscribeData, reply func(*Attachment, error)) {
	if s.deltas.Len() > catchUpDistance {
		s.endRun() // so that late subscribers read the open run folded
	}
	s.log.removeReader(sub) // of a former subscription
	s.subscribers.remove(sub.ID())
	client := protocol.Client{Client: sub.ID(), By: sub.Actor(), Agent: sub.Program()}
	s.subscribers.broadcast(protocol.ClientAttached, s.id, client)
	s.subscribers.list = append(s.subscribers.list, &attachedClient{subscriber: sub, client: client})
	s.published.stale = true
	s.touch()
	if len(s.subscribers.list) == 1 {
		s.deadlines.startAt = time.Now().Add(lookTime)
		s.scheduleTimer()
	}
	refuse := func(failed error) {
		s.detach(sub.ID(), "")
		reply(nil, failed)
	}
	s.wait(waiter{refuse: refuse, done: func(failed error) {
		if !s.exit.ending {
			failed = nil // a failed commit was rolled back: the answer reports nothing of it
		}
		if failed == nil && !s.subscribers.connected(sub.ID()) {
			failed = protocol.Errorf(protocol.CodeNotSubscribed, "unsubscribed meanwhile")
		}
		var result protocol.SubscribeResult
		if failed == nil {
			result = s.subscribeResult(d)
			if result.Snapshot != nil && len(s.boundary.snapshot) > protocol.MaxResult {
				failed = &protocol.Error{
					Code: protocol.CodeTooLarge, Limit: protocol.MaxResult,
					Message: "the state of the session is too large: remove messages from its queue",
				}
			}
		}
		if failed != nil {
			refuse(failed)
			return
		}
		s.log.removeReader(sub) // of another subscription made meanwhile
		s.log.addReader(sub)
		reply(&Attachment{Result: result, Log: s.log}, nil)
	}})
}

// subscribeResult returns the answer to a subscribe command.
func (s *Session) subscribeResult(d *protocol.SubscribeData) protocol.SubscribeResult {
	now := s.log.Position()
	r := protocol.SubscribeResult{
		Session:  s.id,
		Mode:     protocol.ModeSnapshot,
		Position: now,
		Clients:  s.subscribers.clients(s),
	}
	if p := d.Position; p != nil {
		switch {
		case p.Epoch != "" && p.Epoch != now.Epoch:
			r.Mode, r.Reason = protocol.ModeReset, protocol.ResetEpoch
		case p.Seq > now.Seq:
			r.Mode, r.Reason = protocol.ModeReset, protocol.ResetPastEnd
		default:
			r.Mode, r.After = protocol.ModeResume, protocol.Position{Epoch: now.Epoch, Seq: p.Seq}
			return r
		}
	}
	r.After = protocol.Position{Epoch: now.Epoch, Seq: s.boundary.seq}
	r.Snapshot = &protocol.Snapshot{Epoch: now.Epoch, State: s.boundaryState()}
	return r
}

// detach ends a subscription; other subscribers are sent the reason.
func (s *Session) detach(conn, reason string) {
	i := slices.IndexFunc(s.subscribers.list, func(c *attachedClient) bool { return c.subscriber.ID() == conn })
	if i < 0 {
		return
	}
	c := s.subscribers.list[i]
	s.subscribers.list = slices.Delete(s.subscribers.list, i, i+1)
	s.log.removeReader(c.subscriber)
	c.client.Reason = reason
	s.subscribers.broadcast(protocol.ClientDetached, s.id, c.client)
	s.startHoldTimeouts(conn)
	s.published.stale = true
	s.touch()
	s.scheduleTimer()
}

// broadcast notifies every subscriber of an ephemeral event. Of events about one client only the
// newest is sent.
func (u *subscribers) broadcast(typ protocol.Type, session string, data any) {
	key := string(typ) + " " + session
	switch d := data.(type) {
	case protocol.Client:
		key = "client " + session + " " + d.Client
	case protocol.PointedData:
		key += " " + d.Client
	}
	line := encodeEphemeral(typ, session, data)
	for _, c := range u.list {
		c.subscriber.Notify(key, line)
	}
}

// encodeEphemeral encodes an event without a seq.
func encodeEphemeral(typ protocol.Type, session string, data any) []byte {
	e := protocol.Event{Session: session, Type: typ, Time: time.Now(), Data: protocol.MustEncode(data)}
	return e.AppendJSON(nil)
}

// clients returns the subscribed clients, sorted by name.
func (u *subscribers) clients(s *Session) []protocol.Client {
	list := make([]protocol.Client, 0, len(u.list))
	for _, c := range u.list {
		c.updateLag(s)
		list = append(list, c.client)
	}
	slices.SortFunc(list, func(a, b protocol.Client) int {
		return cmp.Or(cmp.Compare(a.By.Name, b.By.Name), cmp.Compare(a.Client, b.Client))
	})
	return list
}

// updateLag computes the client's lag behind the visible log.
func (c *attachedClient) updateLag(s *Session) {
	seq, bytes := c.subscriber.Acked(s.id)
	c.client.Acked, c.client.LagBytes, c.client.LagEvents = seq, bytes, 0
	if at := s.log.Position().Seq; at > seq {
		c.client.LagEvents = at - seq
	}
}

// scheduleLagCheck schedules checkLag after the log grew.
func (u *subscribers) scheduleLagCheck() {
	if len(u.list) > 0 && u.nextLagCheck.IsZero() {
		u.nextLagCheck = time.Now().Add(lagPeriod)
	}
}

// checkLag broadcasts lags that changed. It schedules itself again while a client lags.
func (u *subscribers) checkLag(s *Session, now time.Time) {
	if u.nextLagCheck.IsZero() || now.Before(u.nextLagCheck) {
		return
	}
	u.nextLagCheck = time.Time{}
	for _, c := range slices.Clone(u.list) {
		before := c.client
		c.updateLag(s)
		lagging := c.client.LagEvents >= lagEvents
		if (lagging || c.lagging) && c.client != before {
			u.broadcast(protocol.ClientLag, s.id, c.client)
		}
		c.lagging = lagging
		if lagging {
			u.nextLagCheck = now.Add(lagPeriod)
		}
	}
}
