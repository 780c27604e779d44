package server

import (
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// A subscription is a session that a connection follows, for its client or for a replay.
type subscription struct {
	session string
	epoch   string
	live    bool // its events are sent to the client
	encoder
	boundary    uint64       // seq of the last turn's end, where encoding can restart
	received    *frameOrigin // last frame that the client already has; nil: none
	restored    bool         // agent.state_restored announced the session
	catchingUp  bool         // until caught_up
	onCaughtUp  func(replayed int)
	replayCount int
	replay      *replay
	deadlines   map[string]time.Time // of pending confirmations, by request
	replan      replan
}

// subscriptions are the sessions that a connection follows.
type subscriptions struct {
	x              *exchange
	confirmTimeout time.Duration // until a confirmation is denied; 0: never; static after construction
	sentFrames     *frameIndex   // shared with later connections; static after construction

	bySession   map[string]*subscription
	aliases     map[string]string // the client's name of a session → its id
	current     string            // the session that a frame without session_id means
	ownMessages []string          // newest message ids sent by this client
}

// subscribe follows a session from a position, or from the last turn's end if from is nil. then is
// called once with the subscription or an error.
func (l *subscriptions) subscribe(
	session string, from *protocol.Position, then func(*subscription, *protocol.SubscribeResult, *protocol.Error),
) {
	// An event of joined deltas can include part of a frame that the client has, so resume with raw
	// events.
	data := protocol.SubscribeData{Position: from, Raw: from != nil && from.Epoch != ""}
	l.x.Request(protocol.DoSubscribe, session, "", data, func(a protocol.Answer) {
		r, err := codec.DecodeResult[protocol.SubscribeResult](a)
		if err != nil {
			then(nil, nil, err)
			return
		}
		sub := l.bySession[r.Session]
		if sub == nil {
			sub = &subscription{session: r.Session, deadlines: map[string]time.Time{}}
			sub.state = &protocol.State{Session: r.Session, Seq: r.After.Seq}
			l.bySession[r.Session] = sub
		}
		if sub.epoch != r.Position.Epoch || sub.state.Seq < r.After.Seq || !sub.live {
			sub.epoch, sub.boundary = r.Position.Epoch, r.After.Seq
			sub.encoder = encoder{state: codec.InitialState(&r)}
		}
		then(sub, &r, nil)
	})
}

// goLive sends the session's events to the client from now on. onCaughtUp may be nil; it is called
// after the past events are sent. If the subscription is live already, only the callback is added.
func (l *subscriptions) goLive(sub *subscription, caughtUp func(replayed int)) {
	if sub.live {
		before := sub.onCaughtUp
		sub.catchingUp, sub.onCaughtUp = true, func(replayed int) {
			for _, then := range []func(int){before, caughtUp} {
				if then != nil {
					then(replayed)
				}
			}
		}
		return
	}
	sub.live, sub.catchingUp, sub.onCaughtUp, sub.replayCount = true, true, caughtUp, 0
	from := frameOrigin{
		position: protocol.Position{Epoch: sub.epoch, Seq: sub.boundary}, part: 1 << 30, boundary: sub.boundary,
	}
	if sub.received != nil {
		from = *sub.received
	}
	from.seq, from.session = l.x.seq, sub.session
	l.sentFrames.add(from)
}

// event encodes an event of agentctl's server.
func (l *subscriptions) event(e *protocol.Event) {
	sub := l.bySession[e.Session]
	if sub == nil {
		return
	}
	if !e.Durable() {
		if why, ended := l.x.Unsubscribed(e); ended {
			l.drop(sub, why)
		} else if e.Type == protocol.CaughtUp {
			l.caughtUp(sub)
		}
		return
	}
	if sub.replay != nil {
		sub.replay.collect(e)
	}
	if !sub.live || e.First() <= sub.state.Seq {
		return
	}
	at, boundary := protocol.Position{Epoch: sub.epoch, Seq: e.Seq}, sub.boundary
	silent := sub.restored && (e.Type == protocol.SessionCreated || e.Type == protocol.StateRestored)
	for i, fr := range sub.encode(e) {
		if silent || sub.received != nil && sub.received.covers(e.Seq, i) {
			continue
		}
		if sub.catchingUp {
			fr.Meta["replayed"] = true
			sub.replayCount++
		}
		seq := l.x.send(fr)
		l.sentFrames.add(frameOrigin{seq: seq, session: sub.session, position: at, part: i, boundary: boundary})
	}
	switch e.Type {
	case protocol.TurnEnded:
		sub.boundary = e.Seq
		clear(sub.deadlines)
	case protocol.ApprovalRequested:
		if l.confirmTimeout > 0 {
			l.setConfirmDeadlines(sub)
		}
	case protocol.ApprovalResolved:
		for request := range sub.deadlines {
			if sub.state.PendingApproval(request) == nil {
				delete(sub.deadlines, request)
			}
		}
	case protocol.SessionClosed:
		clear(sub.deadlines)
	}
}

// caughtUp ends the replay or the catch-up of a subscription.
func (l *subscriptions) caughtUp(sub *subscription) {
	if r := sub.replay; r != nil {
		sub.replay = nil
		l.finishReplay(sub, r)
	}
	if sub.catchingUp {
		sub.catchingUp, sub.received = false, nil
		if then := sub.onCaughtUp; then != nil {
			sub.onCaughtUp = nil
			then(sub.replayCount)
		}
	}
}

// drop ends the subscription to a session that was deleted or whose log cannot be read.
func (l *subscriptions) drop(sub *subscription, why protocol.Code) {
	if sub.live && !sub.state.Closed {
		fr := wire.Frame{
			Event: wire.AgentError, Content: "The session cannot be read", Meta: wire.Meta{"error_type": string(why)},
			Show: showError,
		}
		if why == protocol.CodeNoSession {
			fr = wire.Frame{
				Event: wire.AgentSessionEnd, Content: "Session deleted", Meta: wire.Meta{"reason": "deleted"}, Show: showEnded,
			}
		}
		fr.Session = sub.session
		l.x.send(fr)
	}
	delete(l.bySession, sub.session)
	if l.current == sub.session {
		l.current = ""
	}
	l.caughtUp(sub) // run callbacks that wait for past events: no such events are left
}

// setConfirmDeadlines starts the timeout of new pending confirmations.
func (l *subscriptions) setConfirmDeadlines(sub *subscription) {
	for _, a := range sub.state.Approvals {
		if _, known := sub.deadlines[a.Request]; !known {
			sub.deadlines[a.Request] = l.x.Now.Add(l.confirmTimeout)
		}
	}
}

// expireConfirmations denies unanswered confirmations past their deadline, in this client's own
// turns only.
func (l *subscriptions) expireConfirmations(sub *subscription) {
	for _, a := range slices.Clone(sub.state.Approvals) {
		due, waits := sub.deadlines[a.Request]
		if !waits || l.x.Now.Before(due) {
			continue
		}
		sub.deadlines[a.Request] = l.x.Now.Add(24 * time.Hour) // only once
		if sub.state.Turn == nil || !slices.Contains(l.ownMessages, sub.state.Turn.Message.MessageID) {
			continue
		}
		data := protocol.ApproveData{
			Request: a.Request, Decision: protocol.Deny, Reason: "no answer within " + l.confirmTimeout.String(),
		}
		l.x.Request(protocol.DoApprove, sub.session, "", data, nil)
	}
}

// addOwnMessage remembers a message that this client sent.
func (l *subscriptions) addOwnMessage(message string) {
	if len(l.ownMessages) == maxOwnMessages {
		l.ownMessages = slices.Delete(l.ownMessages, 0, 1)
	}
	l.ownMessages = append(l.ownMessages, message)
}

// find returns the live subscription with a name or id, or nil.
func (l *subscriptions) find(name string) *subscription {
	sub := l.bySession[name]
	if sub == nil {
		sub = l.bySession[l.aliases[name]]
	}
	if sub == nil || !sub.live {
		return nil
	}
	return sub
}

// resumePoint returns the last frame of a session that the client received. otherwise is the
// connection of a last_seq without one.
func (l *subscriptions) resumePoint(c *request, session, otherwise string) (frameOrigin, bool) {
	connection, seq, found := c.LastReceived()
	if connection == "" {
		connection = otherwise
	}
	if m := l.framesOf(connection); found && m != nil {
		return m.lastBefore(session, seq)
	}
	return frameOrigin{}, false
}

// framesOf returns the frames of a connection, or nil.
func (l *subscriptions) framesOf(connection string) *frameIndex {
	switch {
	case connection == l.x.id:
		return l.sentFrames
	case l.x.Options.Resume == nil || connection == "":
		return nil
	}
	m, _ := l.x.Options.Resume.Get(connection).(*frameIndex)
	return m
}
