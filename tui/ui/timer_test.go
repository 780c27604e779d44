package ui

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

// timedPart has a deadline until it is due.
type timedPart struct {
	at  time.Time
	due int
}

func (p *timedPart) Deadline() time.Time { return p.at }

func (p *timedPart) Due() (cmd tea.Cmd, changed bool) {
	p.at, p.due = time.Time{}, p.due+1
	return nil, true
}

func TestTheTimerWaitsForTheEarliestDeadline(t *testing.T) {
	now := time.Date(2026, 3, 4, 9, 41, 0, 0, time.UTC)
	early, late, never := &timedPart{at: now.Add(time.Second)}, &timedPart{at: now.Add(3 * time.Second)}, &timedPart{}
	parts := []Timed{never, late, early}
	type wait struct {
		d   time.Duration
		msg TimerMsg
	}
	var waits []wait
	after := func(d time.Duration, msg tea.Msg) tea.Cmd {
		waits = append(waits, wait{d, msg.(TimerMsg)})
		return nil
	}
	timer := new(Timer)
	timer.Start(parts, now, after)
	timer.Start(parts, now, after)
	if len(waits) != 1 || waits[0].d != time.Second {
		t.Fatalf("got waits %v, want one of a second", waits)
	}
	early.at = now.Add(time.Millisecond) // earlier than the pending one
	timer.Start(parts, now, after)
	if len(waits) != 2 || waits[1].d != time.Millisecond {
		t.Fatalf("got waits %v, want a second one of a millisecond", waits)
	}
	if _, changed := timer.Fire(waits[1].msg, now, parts); !changed || early.due != 1 || late.due+never.due != 0 {
		t.Errorf("due: %d early, %d late, %d never; changed %v", early.due, late.due, never.due, changed)
	}
	timer.Start(parts, now.Add(5*time.Second), after)
	if len(waits) != 3 || waits[2].d != 0 {
		t.Fatalf("got waits %v, want no wait for a deadline in the past", waits)
	}
	if _, changed := timer.Fire(waits[0].msg, now, parts); changed || late.due != 0 {
		t.Error("the message of a deadline that was replaced makes a later one due")
	}
	timer.Fire(waits[2].msg, now, parts)
	if late.due != 1 || timer.Start(parts, now, after) != nil || len(waits) != 3 {
		t.Errorf("late was due %d times, waits %v", late.due, waits)
	}
}
