package session

import (
	"time"

	"agentctl/protocol"
)

const (
	// maxSchedule bounds how far ahead a message may be scheduled.
	maxSchedule = 366 * 24 * time.Hour
	// clockCheck is the longest wait for a scheduled message before the clock is read again: timers
	// do not follow changes of the clock, nor the sleep of the machine.
	clockCheck = time.Minute
)

// scheduleMessage keeps a message until its time. It is not in the queue and delays no other.
func (s *Session) scheduleMessage(cmd *command, m protocol.Message, d *protocol.SendData) (any, error) {
	at := d.NotBefore.UTC().Truncate(time.Millisecond)
	if time.Until(at) > maxSchedule {
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "send: not_before: more than a year ahead")
	}
	if d.Front {
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "send: front: not with not_before")
	}
	if err := s.hub.checkDisk(); err != nil {
		return nil, err
	}
	m.MessageID, m.By, m.NotBefore = NewID(idMessage), &cmd.by, &at
	if err := sanitizeMessage(&m); err != nil {
		return nil, err
	}
	if err := s.checkQueue(&m); err != nil {
		return nil, err
	}
	e := s.record(protocol.QueueScheduled, &cmd.by, protocol.QueueScheduledData{Message: m})
	s.scheduleTimer()
	return protocol.SendResult{Status: protocol.SendScheduled, MessageID: m.MessageID, Seq: e.Seq}, nil
}

// scheduleCheck returns when to look for scheduled messages that are due. Zero: there are none.
func (s *Session) scheduleCheck() time.Time {
	at := s.state.NextScheduled()
	if at == nil || s.closing() {
		return time.Time{}
	}
	if check := time.Now().Add(clockCheck); check.Before(*at) {
		return check
	}
	return *at
}

// queueDue puts the scheduled messages whose time has come at the end of the queue.
func (s *Session) queueDue(now time.Time) {
	added := false
	for at := s.state.NextScheduled(); at != nil && !at.After(now) && !s.closing(); at = s.state.NextScheduled() {
		m := s.state.Scheduled[0]
		queued := timestamp()
		m.QueuedAt = &queued
		s.record(protocol.QueueAdded, m.By, protocol.QueueAddedData{Message: m})
		added = true
	}
	if added {
		s.startNext()
	}
}
