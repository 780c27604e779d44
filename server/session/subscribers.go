package session

import (
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session/presence"
)

// A Subscriber is a connection subscribed to sessions. A session never waits for it: no method may
// block.
type Subscriber interface {
	eventlog.Waker
	presence.Subscriber
}

// An Attachment is the start of a subscription: the answer, and the log to read on from
// Result.After.
type Attachment struct {
	Result protocol.SubscribeResult
	Log    *eventlog.Log
}

// lookTime is the time for which a session has subscribers before its agent starts. A subscription
// for a preview, or to read events, is shorter.
const lookTime = time.Second

// attach subscribes to the session. The answer and the log after Result.After have neither gap nor
// repeat between them. reply is called once everything that the answer reports is visible.
func (s *Session) attach(sub Subscriber, d *protocol.SubscribeData, reply func(*Attachment, error)) {
	s.journal.FoldRun()
	s.journal.Log().RemoveReader(sub) // of an older subscription
	s.subscribers.Add(sub)
	s.recorder.Changed()
	s.deadlines.touch()
	if s.subscribers.Len() == 1 {
		s.deadlines.startAt = time.Now().Add(lookTime)
		s.scheduleTimer()
	}
	refuse := func(failed error) {
		s.detach(sub.ID(), "")
		reply(nil, failed)
	}
	s.journal.Wait(eventlog.Waiter{Refuse: refuse, Done: func(failed error) {
		if !s.exit.ending {
			failed = nil // a failed commit was rolled back: the answer does not report it
		}
		if failed == nil && !s.subscribers.Connected(sub.ID()) {
			failed = protocol.Errorf(protocol.CodeNotSubscribed, "unsubscribed before the answer")
		}
		var result protocol.SubscribeResult
		if failed == nil {
			result, failed = s.recorder.Subscribe(d.Position)
		}
		if failed != nil {
			refuse(failed)
			return
		}
		s.journal.Log().RemoveReader(sub) // for another subscription made since
		s.journal.Log().AddReader(sub)
		if p := s.slot.Info(s.spec.IdleEnd); p != nil && p.Phase == protocol.ProcessStarting {
			result.Process = p
		}
		result.Clients, result.ClientCount = s.subscribers.Clients(sub.ID(), result.Position.Seq)
		reply(&Attachment{Result: result, Log: s.journal.Log()}, nil)
	}})
}

// detach ends a subscription; other subscribers are sent the reason.
func (s *Session) detach(conn, reason string) {
	sub, ok := s.subscribers.Remove(conn, reason, s.queue.Edits(conn))
	if !ok {
		return
	}
	s.journal.Log().RemoveReader(sub)
	s.queue.Disconnected(conn, time.Now().Add(s.hub.settings().EditHold))
	s.recorder.Changed()
	s.deadlines.touch()
	s.scheduleTimer()
}
