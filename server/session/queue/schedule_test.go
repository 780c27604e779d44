package queue

import (
	"testing"
	"time"

	"agentctl/protocol"
)

// schedule keeps a message for a time from now.
func (r *rig) schedule(text string, in time.Duration) string {
	r.t.Helper()
	at := r.now.Add(in)
	m := protocol.Message{MessageID: r.newID(), Text: text, By: &anna, NotBefore: &at}
	r.record(Schedule(m))
	return m.MessageID
}

func TestScheduledMessagesAreQueuedInTheOrderOfTheirTimes(t *testing.T) {
	r := newRig(t)
	r.schedule("third", 3*time.Hour)
	r.schedule("first", time.Hour)
	r.schedule("second", 2*time.Hour)
	if r.wantNext(""); !StartsNow(r.st, false) {
		t.Error("a scheduled message delays another one")
	}
	if got := ScheduleCheck(r.st, r.now); !got.Equal(r.now.Add(clockCheck)) {
		t.Errorf("the clock is read again in %s", got.Sub(r.now))
	}
	due := r.now.Add(time.Hour)
	if got := ScheduleCheck(r.st, due.Add(-time.Second)); !got.Equal(due) {
		t.Errorf("the next check is at %s, want %s", got, due)
	}
	if events := Due(r.st, due.Add(-1)); events != nil {
		t.Errorf("before the time: %+v", events)
	}
	r.record(Due(r.st, r.now.Add(2*time.Hour))...)
	if got := r.texts(); got != "first second" || len(r.st.Scheduled) != 1 || r.st.Queue[0].QueuedAt == nil {
		t.Errorf("queue %q, %d scheduled", got, len(r.st.Scheduled))
	}
	r.wantNext("first")
}

func TestAMessageThatIsDueWaitsForTheRelease(t *testing.T) {
	r := newRig(t)
	r.schedule("text", time.Hour)
	if _, err := do(r, anna, (*Queue).Hold, protocol.QueueHoldData{}); err != nil {
		t.Fatal(err)
	}
	r.record(Due(r.st, r.now.Add(time.Hour))...)
	if r.wantNext(""); r.texts() != "text" {
		t.Errorf("queue %q", r.texts())
	}
	if _, err := do(r, anna, (*Queue).Release, protocol.QueueReleaseData{}); err != nil {
		t.Fatal(err)
	}
	r.wantNext("text")
}

func TestAScheduledMessageIsEditedRemovedAndNotMoved(t *testing.T) {
	r := newRig(t)
	kept, gone := r.schedule("typo", time.Hour), r.schedule("gone", time.Hour)
	if _, err := do(r, bert, (*Queue).Edit, protocol.QueueEditData{MessageID: kept, Text: "text"}); err != nil {
		t.Error(err)
	}
	if _, err := do(r, bert, (*Queue).Remove, protocol.QueueRemoveData{MessageID: gone}); err != nil {
		t.Error(err)
	}
	if len(r.st.Scheduled) != 1 || r.st.Scheduled[0].Text != "text" || r.st.Scheduled[0].NotBefore == nil {
		t.Errorf("scheduled %+v", r.st.Scheduled)
	}
	if _, err := do(r, bert, (*Queue).Move, protocol.QueueMoveData{MessageID: kept}); protocol.CodeOf(err) !=
		protocol.CodeConflict {
		t.Errorf("move: %v", err)
	}
}

func TestLimitsOfScheduledMessages(t *testing.T) {
	r := newRig(t)
	for name, d := range map[string]protocol.SendData{
		"far":   {NotBefore: new(r.now.Add(2 * maxSchedule))},
		"front": {NotBefore: new(r.now.Add(time.Hour)), Front: true},
	} {
		if err := CheckSchedule(&d, r.now); protocol.CodeOf(err) != protocol.CodeInvalidMessage {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.limits.Messages = 2
	r.schedule("one", time.Hour)
	_, _ = r.add("two")
	m := protocol.Message{MessageID: "three", NotBefore: new(r.now.Add(time.Hour))}
	if err := r.limits.Check(r.st, &m); protocol.CodeOf(err) != protocol.CodeQueueFull {
		t.Errorf("scheduled and queued messages count together: %v", err)
	}
}
