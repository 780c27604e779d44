package limit

import (
	"fmt"
	"math/rand/v2"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/queue"
	"agentctl/server/session/record"
)

const (
	maxDelay  = 2 * time.Minute  // at random after a limit: the sessions of an account do not continue together
	firstWait = 15 * time.Minute // for a limit whose end is not known; doubled each time
	maxWait   = 24 * time.Hour
)

// continueText is the message with which a session continues if the agent took in the last one.
const continueText = "Continue where you left off. A usage limit ended the last turn."

// Limits are the usage limits of a session's agent. The fields are set before use. One goroutine
// calls the methods.
type Limits struct {
	Choice *(*agent.AfterLimit) // of a user, in the session's spec; the value is replaced, never changed
	Store  func()               // stores the spec in the commit of the next events

	// Permits reports whether the user of a choice may still send; nil: always.
	Permits func(*agent.AfterLimit) bool
}

// An Ended is a turn that a usage limit has ended.
type Ended struct {
	agent.Limit

	Message protocol.Message // of the turn
	Now     time.Time
	HoldID  string
	NextID  string // of the message with which the session continues
}

// End returns the events after a turn that a limit has ended. Its message is first in the queue
// again, unless the agent took it in. The queue is held unless it is empty. If the user's choice
// allows another continuation, the hold has the time of its release, and one message runs then.
func (l *Limits) End(st *protocol.State, e *Ended) []record.Event {
	h := protocol.Hold{ID: e.HoldID, Reason: protocol.HoldLimit}
	if !e.ResetsAt.IsZero() {
		at := record.Time(e.ResetsAt)
		h.ResetsAt = &at
	}
	var events []record.Event
	if !e.TookIn {
		m := e.Message
		m.ClientMessageID, m.NotBefore = "", nil
		events = append(events, first(m, e.NextID, e.Now))
		h.MessageID = e.NextID
	}
	events = append(events, l.arm(&h, e.Now, e.NextID)...)
	if len(st.Queue) == 0 && h.MessageID == "" {
		return events
	}
	return append(events, queue.Held(h))
}

// arm sets the time of a hold's release if the choice allows another continuation. Without a message
// to continue with, it adds one with the id.
func (l *Limits) arm(h *protocol.Hold, now time.Time, id string) (events []record.Event) {
	c := *l.Choice
	switch {
	case c == nil:
		return nil
	case c.Used >= c.Most:
		return []record.Event{
			notice("the session continued after %d usage limits, as chosen: release its queue", c.Used),
		}
	}
	next := *c
	base := now
	if h.ResetsAt != nil && h.ResetsAt.After(now) {
		base, next.Waits = *h.ResetsAt, 0
	} else {
		base = now.Add(min(maxWait, firstWait<<min(next.Waits, 10)))
		next.Waits++
	}
	until := record.Time(base.Add(rand.N(maxDelay))) //nolint:gosec // no secret
	h.Until, h.By = &until, &next.By
	if h.MessageID == "" {
		events = append(events, first(protocol.Message{Text: continueText, By: &next.By}, id, now))
		h.MessageID = id
	}
	l.set(&next)
	return events
}

func (l *Limits) set(c *agent.AfterLimit) {
	if *l.Choice != c {
		*l.Choice = c
		l.Store()
	}
}

// Due returns the events that release the queue when the time of its hold has come, in the name of
// the user who chose it. If that user may not send any more, the queue stays held.
func (l *Limits) Due(st *protocol.State, now time.Time) []record.Event {
	h := st.LimitHold()
	if st.Closed || h == nil || h.Until == nil || now.Before(*h.Until) {
		return nil
	}
	c := *l.Choice
	if c == nil || c.Used >= c.Most || l.Permits != nil && !l.Permits(c) {
		kept := *h
		kept.Until, kept.By = nil, nil
		why := "not continued after the usage limit: no user chose it"
		if c != nil {
			why = "not continued after the usage limit: " + c.By.Name + " may not send any more"
		}
		return append([]record.Event{notice("%s", why)}, replaced(h, kept)...)
	}
	next := *c
	next.Used++
	l.set(&next)
	return []record.Event{queue.Released(&next.By, h.ID)}
}

// Passed notes that a turn has ended without a limit.
func (l *Limits) Passed() {
	if c := *l.Choice; c != nil && c.Waits > 0 {
		next := *c
		next.Waits = 0
		l.set(&next)
	}
}

// Choose replaces the choice; nil: never continue. It returns the events for a queue that a limit
// holds now. id is for a message that they may add.
func (l *Limits) Choose(st *protocol.State, c *agent.AfterLimit, now time.Time, id string) []record.Event {
	l.set(c)
	h := st.LimitHold()
	if h == nil {
		return nil
	}
	next := *h
	next.Until, next.By = nil, nil
	events := l.arm(&next, now, id)
	if next.Until == nil && h.Until == nil {
		return events
	}
	return append(events, replaced(h, next)...)
}

func first(m protocol.Message, id string, now time.Time) record.Event {
	m.MessageID = id
	return queue.Added(m, new(int), now)
}

// replaced returns the events that replace a hold by another with its id. One commit has both.
func replaced(h *protocol.Hold, by protocol.Hold) []record.Event {
	return []record.Event{queue.Released(by.By, h.ID), queue.Held(by)}
}

func notice(format string, args ...any) record.Event {
	return record.Event{Type: protocol.Notice, Data: protocol.NoticeData{
		Level: protocol.LevelWarning, Code: protocol.CodeLimited, Message: fmt.Sprintf(format, args...),
	}}
}
