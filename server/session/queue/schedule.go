package queue

import (
	"time"

	"agentctl/protocol"
	"agentctl/server/session/record"
)

const (
	// maxSchedule bounds the time by which a message may be scheduled ahead.
	maxSchedule = 366 * 24 * time.Hour
	// clockCheck is the longest wait for a scheduled message before the clock is read again: timers
	// do not follow changes of the clock, nor the sleep of the machine.
	clockCheck = time.Minute
)

// CheckSchedule returns an error unless a message may be scheduled.
func CheckSchedule(d *protocol.SendData, now time.Time) error {
	if d.NotBefore.Sub(now) > maxSchedule {
		return protocol.Errorf(protocol.CodeInvalidMessage, "send: not_before: more than a year ahead")
	}
	if d.Front {
		return protocol.Errorf(protocol.CodeInvalidMessage, "send: front: not with not_before")
	}
	if d.Delivery == protocol.DeliverSteer {
		return protocol.Errorf(protocol.CodeInvalidMessage, "send: delivery: not with not_before")
	}
	return nil
}

// Schedule keeps a message that Sanitize and Limits.Check have accepted until its time, NotBefore. It is not
// in the queue and delays no other.
func Schedule(m protocol.Message) record.Event {
	return record.Event{Type: protocol.QueueScheduled, By: m.By, Data: protocol.QueueScheduledData{Message: m}}
}

// ScheduleCheck returns when to look for scheduled messages that are due; zero: no messages.
func ScheduleCheck(st *protocol.State, now time.Time) time.Time {
	at := st.NextScheduled()
	if at == nil {
		return time.Time{}
	}
	if check := now.Add(clockCheck); check.Before(*at) {
		return check
	}
	return *at
}

// Due returns the events that put the scheduled messages whose time has come at the end of the queue.
func Due(st *protocol.State, now time.Time) []record.Event {
	var events []record.Event
	if st.Closed {
		return nil
	}
	for _, m := range st.Scheduled { // in the order of their times
		if m.NotBefore == nil || m.NotBefore.After(now) {
			break
		}
		events = append(events, Added(m, nil, now))
	}
	return events
}
