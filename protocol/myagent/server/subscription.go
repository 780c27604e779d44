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

// subscribe follows a session from a position, or from the last turn's end if from is nil. then is
// called once with the subscription or an error.
func (s *Conn) subscribe(
	session string, from *protocol.Position, then func(*subscription, *protocol.SubscribeResult, *protocol.Error),
) {
	// An event of joined deltas can include part of a frame that the client has, so resume with raw
	// events.
	data := protocol.SubscribeData{Position: from, Raw: from != nil && from.Epoch != ""}
	s.Request(protocol.DoSubscribe, session, "", data, func(a protocol.Answer) {
		r, err := codec.DecodeResult[protocol.SubscribeResult](a)
		if err != nil {
			then(nil, nil, err)
			return
		}
		sub := s.subscriptions[r.Session]
		if sub == nil {
			sub = &subscription{session: r.Session, deadlines: map[string]time.Time{}}
			sub.state = &protocol.State{Session: r.Session, Seq: r.After.Seq}
			s.subscriptions[r.Session] = sub
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
func (s *Conn) goLive(sub *subscription, caughtUp func(replayed int)) {
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
	from.seq, from.session = s.seq, sub.session
	s.sentFrames.add(from)
}

// handleEvent encodes an event of agentctl's server.
func (s *Conn) handleEvent(e *protocol.Event) {
	sub := s.subscriptions[e.Session]
	if sub == nil {
		return
	}
	if !e.Durable() {
		if why, ended := s.Unsubscribed(e); ended {
			s.dropSubscription(sub, why)
		} else if e.Type == protocol.CaughtUp {
			s.handleCaughtUp(sub)
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
		seq := s.send(fr)
		s.sentFrames.add(frameOrigin{seq: seq, session: sub.session, position: at, part: i, boundary: boundary})
	}
	switch e.Type {
	case protocol.TurnEnded:
		sub.boundary = e.Seq
		clear(sub.deadlines)
	case protocol.ApprovalRequested:
		if s.confirmTimeout > 0 {
			s.setConfirmDeadlines(sub)
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

// handleCaughtUp ends the replay or the catch-up of a subscription.
func (s *Conn) handleCaughtUp(sub *subscription) {
	if r := sub.replay; r != nil {
		sub.replay = nil
		s.finishReplay(sub, r)
	}
	if sub.catchingUp {
		sub.catchingUp, sub.received = false, nil
		if then := sub.onCaughtUp; then != nil {
			sub.onCaughtUp = nil
			then(sub.replayCount)
		}
	}
}

// dropSubscription ends the subscription to a session that was deleted or whose log cannot be read.
func (s *Conn) dropSubscription(sub *subscription, why protocol.Code) {
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
		s.send(fr)
	}
	delete(s.subscriptions, sub.session)
	if s.current == sub.session {
		s.current = ""
	}
	s.handleCaughtUp(sub) // run callbacks that wait for past events: there are none left
}

// setConfirmDeadlines starts the timeout of new pending confirmations.
func (s *Conn) setConfirmDeadlines(sub *subscription) {
	for _, a := range sub.state.Approvals {
		if _, known := sub.deadlines[a.Request]; !known {
			sub.deadlines[a.Request] = s.Now.Add(s.confirmTimeout)
		}
	}
}

// expireConfirmations denies unanswered confirmations past their deadline, in this client's own
// turns only.
func (s *Conn) expireConfirmations(sub *subscription) {
	for _, a := range slices.Clone(sub.state.Approvals) {
		due, waits := sub.deadlines[a.Request]
		if !waits || s.Now.Before(due) {
			continue
		}
		sub.deadlines[a.Request] = s.Now.Add(24 * time.Hour) // only once
		if sub.state.Turn == nil || !slices.Contains(s.ownMessages, sub.state.Turn.Message.MessageID) {
			continue
		}
		data := protocol.ApproveData{
			Request: a.Request, Decision: protocol.Deny, Reason: "no answer within " + s.confirmTimeout.String(),
		}
		s.Request(protocol.DoApprove, sub.session, "", data, nil)
	}
}

// addOwnMessage remembers a message that this client sent.
func (s *Conn) addOwnMessage(message string) {
	if len(s.ownMessages) == maxOwnMessages {
		s.ownMessages = slices.Delete(s.ownMessages, 0, 1)
	}
	s.ownMessages = append(s.ownMessages, message)
}
