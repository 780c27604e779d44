package recorder

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
)

// discardStore commits nothing, unless it fails.
type discardStore struct {
	eventlog.Store
	fail error
}

func (s *discardStore) Commit([]*eventlog.Batch) error { return s.fail }

func discard([]*eventlog.Batch, time.Duration, error) {}

// A rig is a recorder with a journal that commits to a store.
type rig struct {
	*Recorder
	store  *discardStore
	listed []protocol.Summary
}

func newRig(t *testing.T) *rig {
	r := &rig{store: &discardStore{}}
	committer := eventlog.NewCommitter(r.store, discard)
	t.Cleanup(committer.Close)
	journal := eventlog.NewJournal(eventlog.NewLog("s", "e", r.store, eventlog.NewCache(1<<20), 0), committer)
	r.Recorder = New(&protocol.State{Session: "s"}, journal, func() *slog.Logger { return slog.New(slog.DiscardHandler) },
		func(sum protocol.Summary, _ time.Time) { r.listed = append(r.listed, sum) })
	r.Record(protocol.SessionCreated, nil, protocol.SessionCreatedData{Agent: "a"})
	return r
}

// commit publishes the row and commits.
func (r *rig) commit() {
	r.Publish(2)
	r.journal.Flush()
	for _, w := range r.journal.FinishCommit(<-r.journal.Committed()) {
		w.Done(r.store.fail)
	}
}

// turn records a turn and its boundary.
func (r *rig) turn() {
	message := protocol.Message{MessageID: "m", Text: "go"}
	r.RecordIn("t", protocol.MessageUser, nil, protocol.MessageUserData{Message: message})
	r.Record(protocol.TurnStarted, nil, protocol.TurnStartedData{MessageID: "m"})
	st := r.state.Turn
	r.EndTurn(st, r.Record(protocol.TurnEnded, nil, protocol.TurnEndedData{Reason: protocol.ReasonCompleted}))
}

func TestASubscriptionBeginsAtTheLastVisibleBoundaryOrItsPosition(t *testing.T) {
	r := newRig(t)
	r.turn()
	if got, err := r.Subscribe(nil); err != nil || got.After.Seq != 0 || got.Snapshot.State.Turns != 0 {
		t.Errorf("before the commit: %+v, %v", got, err)
	}
	r.commit()
	end := protocol.Position{Epoch: "e", Seq: 4}
	if got, err := r.Subscribe(nil); err != nil || got.Mode != protocol.ModeSnapshot || got.After != end ||
		got.Snapshot.State.Turns != 1 {
		t.Errorf("without a position: %+v, %v", got, err)
	}
	for at, want := range map[protocol.Position]string{
		{Epoch: "e", Seq: 2}: "", {Seq: 4}: "", {Epoch: "e", Seq: 5}: protocol.ResetPastEnd, {Epoch: "f"}: protocol.ResetEpoch,
	} {
		got, err := r.Subscribe(&at)
		if err != nil || got.Reason != want || (got.Snapshot == nil) != (want == "") {
			t.Errorf("%s: %+v, %v", at, got, err)
		}
	}
}

func TestTheRowIsListedOncePerChange(t *testing.T) {
	r := newRig(t)
	r.commit()
	r.Publish(2) // unchanged
	if len(r.listed) != 1 || r.listed[0].Session != "s" || r.listed[0].Clients != 2 || r.listed[0].Seq != 1 {
		t.Fatalf("listed %+v", r.listed)
	}
	en := eventlog.Entry{Type: protocol.Notice, Data: protocol.MustEncode(protocol.NoticeData{Message: "n"})}
	if err := r.AppendOutput(&en); err != nil {
		t.Fatal(err)
	}
	active := r.listed[0].Updated
	r.commit()
	if len(r.listed) != 2 || r.listed[1].Seq != 2 || !r.listed[1].Updated.Equal(active) {
		t.Errorf("after the agent's notice outside of turns: %+v", r.listed)
	}
}

func TestAFailedCommitListsNothingAndMovesNoBoundary(t *testing.T) {
	r := newRig(t)
	r.commit()
	r.store.fail = errors.New("no")
	r.turn()
	r.commit()
	if got, err := r.Subscribe(nil); err != nil || got.After.Seq != 0 || len(r.listed) != 1 {
		t.Errorf("%+v, %v, listed %d times", got, err, len(r.listed))
	}
	before, read := r.state, &protocol.State{Session: "s", Seq: 1}
	r.Adopt(&eventlog.Record{ID: "s", Head: 1}, read)
	if r.state != before || r.state.Seq != 1 || r.state.Turn != nil {
		t.Errorf("adopted %+v", r.state)
	}
}

// A person who takes 53 minutes to decide moves the start of the work by that time.
func TestASessionWorksSinceItsStartWithoutWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.RecordIn("t", protocol.MessageUser, nil, protocol.MessageUserData{Message: protocol.Message{MessageID: "m"}})
		r.Record(protocol.TurnStarted, nil, protocol.TurnStartedData{MessageID: "m"})
		started := r.state.Turn.Started
		time.Sleep(6 * time.Second)
		r.Record(protocol.ToolStarted, nil, protocol.ToolStartedData{Tool: "c1", Name: "shell"})
		r.Record(protocol.ApprovalRequested, nil, protocol.Approval{Request: "r1", Tool: "c1"})
		time.Sleep(53 * time.Minute)
		if sum := r.Summary(0); sum.Since != nil {
			t.Errorf("works since %v while it waits", sum.Since)
		}
		r.Record(protocol.ApprovalResolved, nil, protocol.ApprovalResolvedData{Request: "r1", Outcome: protocol.Allowed})
		time.Sleep(4 * time.Second)
		if got := time.Since(*r.Summary(0).Since); got != 4*time.Second {
			t.Errorf("the tool works for %v, want 4s", got)
		}
		r.Record(protocol.ToolEnded, nil, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})
		if got := r.Summary(0).Since.Sub(started); got != 53*time.Minute {
			t.Errorf("the start of the turn moved by %v, want 53m", got)
		}
	})
}
