package myagent

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
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
}

// subscribe follows a session from a position, or from the last turn's end if from is nil. then is
// called once with the subscription or an error.
func (s *server) subscribe(session string, from *protocol.Position, then func(*subscription, *protocol.SubscribeResult, *protocol.Error)) {
	// A folded event can include part of a frame that the client has, so resume with raw events.
	data := protocol.SubscribeData{Position: from, Raw: from != nil && from.Epoch != ""}
	s.requests.Do(s.out, protocol.DoSubscribe, session, "", data, func(a protocol.Answer) {
		var r protocol.SubscribeResult
		if a.Error == nil && (json.Unmarshal(a.Result, &r) != nil || r.Session == "") {
			a.Error = protocol.Errorf(protocol.CodeInternal, "internal error")
		}
		if a.Error != nil {
			then(nil, nil, a.Error)
			return
		}
		f := s.subscriptions[r.Session]
		if f == nil {
			f = &subscription{session: r.Session, deadlines: map[string]time.Time{}}
			f.state = &protocol.State{Session: r.Session, Seq: r.After.Seq}
			s.subscriptions[r.Session] = f
		}
		if f.epoch != r.Position.Epoch || f.state.Seq < r.After.Seq || !f.live {
			f.epoch, f.boundary = r.Position.Epoch, r.After.Seq
			f.encoder = encoder{state: f.baseState(&r)}
		}
		then(f, &r, nil)
	})
}

// baseState returns the state before the first event of the subscription.
func (f *subscription) baseState(r *protocol.SubscribeResult) *protocol.State {
	if r.Snapshot != nil && r.Snapshot.State != nil {
		return r.Snapshot.State
	}
	return &protocol.State{Session: r.Session, Seq: r.After.Seq}
}

// goLive sends the session's events to the client from now on. onCaughtUp may be nil; it is called
// after the past events are sent. If the subscription is live already, only the callback is added.
func (s *server) goLive(f *subscription, caughtUp func(replayed int)) {
	if f.live {
		before := f.onCaughtUp
		f.catchingUp, f.onCaughtUp = true, func(replayed int) {
			for _, then := range []func(int){before, caughtUp} {
				if then != nil {
					then(replayed)
				}
			}
		}
		return
	}
	f.live, f.catchingUp, f.onCaughtUp, f.replayCount = true, true, caughtUp, 0
	from := frameOrigin{position: protocol.Position{Epoch: f.epoch, Seq: f.boundary}, part: 1 << 30, boundary: f.boundary}
	if f.received != nil {
		from = *f.received
	}
	from.seq, from.session = s.seq, f.session
	s.sentFrames.add(from)
}

// handleEvent encodes an event of agentctl's server.
func (s *server) handleEvent(e *protocol.Event) {
	f := s.subscriptions[e.Session]
	if f == nil {
		return
	}
	if !e.Durable() {
		var gone protocol.Client
		switch {
		case e.Type == protocol.CaughtUp:
			s.handleCaughtUp(f)
		case e.Type == protocol.ClientDetached && e.Decode(&gone) == nil && gone.Client == s.nativeID && gone.Reason != "":
			s.dropSubscription(f, protocol.Code(gone.Reason))
		}
		return
	}
	if f.replay != nil {
		f.replay.collect(e)
	}
	if !f.live || e.First() <= f.state.Seq {
		return
	}
	at, boundary := protocol.Position{Epoch: f.epoch, Seq: e.Seq}, f.boundary
	silent := f.restored && (e.Type == protocol.SessionCreated || e.Type == protocol.StateRestored)
	for i, fr := range f.encode(e) {
		if silent || f.received != nil && f.received.covers(e.Seq, i) {
			continue
		}
		if f.catchingUp {
			fr.Meta["replayed"] = true
			f.replayCount++
		}
		seq := s.send(fr)
		s.sentFrames.add(frameOrigin{seq: seq, session: f.session, position: at, part: i, boundary: boundary})
	}
	switch e.Type {
	case protocol.TurnEnded:
		f.boundary = e.Seq
		clear(f.deadlines)
	case protocol.ApprovalRequested:
		if s.confirmTimeout > 0 {
			s.setConfirmDeadlines(f)
		}
	case protocol.ApprovalResolved:
		for request := range f.deadlines {
			if f.state.Pending(request) == nil {
				delete(f.deadlines, request)
			}
		}
	case protocol.SessionClosed:
		clear(f.deadlines)
	}
}

// handleCaughtUp ends the replay or the catch-up of a subscription.
func (s *server) handleCaughtUp(f *subscription) {
	if r := f.replay; r != nil {
		f.replay = nil
		s.finishReplay(f, r)
	}
	if f.catchingUp {
		f.catchingUp, f.received = false, nil
		if then := f.onCaughtUp; then != nil {
			f.onCaughtUp = nil
			then(f.replayCount)
		}
	}
}

// dropSubscription ends the subscription to a session that was deleted or whose log cannot be read.
func (s *server) dropSubscription(f *subscription, why protocol.Code) {
	if f.live && !f.state.Closed {
		fr := frame{Event: agentError, Content: "The session cannot be read", Meta: meta{"error_type": string(why)}, Show: showError}
		if why == protocol.CodeNoSession {
			fr = frame{Event: agentSessionEnd, Content: "Session deleted", Meta: meta{"reason": "deleted"}, Show: showEnded}
		}
		fr.Session = f.session
		s.send(fr)
	}
	delete(s.subscriptions, f.session)
	if s.current == f.session {
		s.current = ""
	}
	s.handleCaughtUp(f) // run callbacks that wait for past events: there are none left
}

// setConfirmDeadlines starts the timeout of new pending confirmations.
func (s *server) setConfirmDeadlines(f *subscription) {
	for _, a := range f.state.Approvals {
		if _, known := f.deadlines[a.Request]; !known {
			f.deadlines[a.Request] = s.now.Add(s.confirmTimeout)
		}
	}
}

// expireConfirmations denies unanswered confirmations past their deadline, in this client's own
// turns only.
func (s *server) expireConfirmations(f *subscription) {
	for _, a := range slices.Clone(f.state.Approvals) {
		due, waits := f.deadlines[a.Request]
		if !waits || s.now.Before(due) {
			continue
		}
		f.deadlines[a.Request] = s.now.Add(24 * time.Hour) // only once
		if f.state.Turn == nil || !slices.Contains(s.ownMessages, f.state.Turn.Message.MessageID) {
			continue
		}
		data := protocol.ApproveData{
			Request: a.Request, Decision: protocol.Deny, Reason: "no answer within " + s.confirmTimeout.String(),
		}
		s.requests.Do(s.out, protocol.DoApprove, f.session, "", data, nil)
	}
}

// addOwnMessage remembers a message that this client sent.
func (s *server) addOwnMessage(message string) {
	if len(s.ownMessages) == maxOwnMessages {
		s.ownMessages = slices.Delete(s.ownMessages, 0, 1)
	}
	s.ownMessages = append(s.ownMessages, message)
}
