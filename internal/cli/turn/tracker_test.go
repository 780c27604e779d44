package turn

import (
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/cli/verb"
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/wsclient"
)

func (s *eventLog) caughtUp() *eventLog {
	s.items = append(s.items, wsclient.Item{Event: &protocol.Event{
		Session: "s", Time: time.Unix(0, 0),
		Type: protocol.CaughtUp,
	}})
	return s
}

func (s *eventLog) textDelta(turn, part, text string) *eventLog {
	return s.add(protocol.TextDelta, turn, protocol.PartDeltaData{Part: part, Text: text})
}

// resumed starts a log after a position, as a Tracker does.
func resumed() *eventLog {
	s := attached(empty(), 0)
	s.items[0].Attached.Mode, s.items[0].Attached.Snapshot = protocol.ModeResume, nil
	return s
}

// reset continues with another log, from a state.
func (s *eventLog) reset(state *protocol.State) *eventLog {
	more := attached(state, 0)
	more.items[0].Attached.Mode = protocol.ModeReset
	more.items = append(slices.Clone(s.items), more.items...)
	return more
}

// stateOf returns a state for Tracker.current.
func stateOf(turn *protocol.TurnState, queue []string, hold string, approvals ...string) *protocol.State {
	s := &protocol.State{Session: "s", Turn: turn}
	for _, m := range queue {
		s.Queue = append(s.Queue, protocol.Message{MessageID: m})
	}
	if hold != "" {
		s.Holds = []protocol.Hold{{ID: "h", Reason: hold}}
	}
	for _, r := range approvals {
		s.Approvals = append(s.Approvals, protocol.Approval{Request: r})
	}
	return s
}

func TestATrackerEndsWithTheTurnOfItsMessage(t *testing.T) {
	const continues = -1
	running := &protocol.TurnState{Turn: "t1", Message: protocol.Message{MessageID: "m1"}}
	other := &protocol.TurnState{Turn: "t0", Message: protocol.Message{MessageID: "m0"}}
	removed := protocol.QueueRemovedData{MessageID: "m1", Reason: protocol.RemovedUser}
	started := protocol.QueueRemovedData{MessageID: "m1", Reason: protocol.RemovedStarted}
	tests := []struct {
		name    string
		log     *eventLog
		current []*protocol.State // returned in order, the last one repeatedly
		status  int
	}{
		{"completed", resumed().startTurn("t1", "m1").endTurn("t1", protocol.ReasonCompleted), nil, exit.OK},
		{"failed", resumed().startTurn("t1", "m1").endTurn("t1", protocol.ReasonError), nil, exit.TurnFailed},
		{
			"interrupted", resumed().startTurn("t1", "m1").endTurn("t1", protocol.ReasonInterrupted), nil,
			exit.Interrupted,
		},
		{"not with another's turn", resumed().queueMessage("m1").endTurn("t0", protocol.ReasonError), nil, continues},
		{
			"queued, then started", resumed().queueMessage("m1").add(protocol.QueueRemoved, "", started).startTurn("t1",
				"m1").
				endTurn("t1", protocol.ReasonCompleted), nil, exit.OK,
		},
		{
			"taken out of the queue", resumed().queueMessage("m1").add(protocol.QueueRemoved, "", removed), nil,
			exit.Interrupted,
		},
		{
			"an approval of its own turn", resumed().startTurn("t1", "m1").requestApproval("t1", "r").caughtUp(),
			[]*protocol.State{stateOf(running, nil, "", "r")},
			exit.NeedsPerson,
		},
		{
			"an approval of a turn before it", resumed().queueMessage("m1").caughtUp(),
			[]*protocol.State{stateOf(other, []string{"m1"}, "", "r")},
			exit.NeedsPerson,
		},
		{
			"an approval before it, which is queued only then", resumed().caughtUp().queueMessage("m1"),
			[]*protocol.State{stateOf(other, nil, "", "r"), stateOf(other, []string{"m1"}, "", "r")},
			exit.NeedsPerson,
		},
		{
			"an approval that was decided since then", resumed().startTurn("t1", "m1").requestApproval("t1",
				"r").caughtUp(),
			[]*protocol.State{stateOf(running, nil, "")},
			continues,
		},
		{
			"a hold before it", resumed().queueMessage("m1").caughtUp(),
			[]*protocol.State{stateOf(other, []string{"m1"}, protocol.HoldUser)},
			exit.NeedsPerson,
		},
		{
			"a hold behind it", resumed().startTurn("t1", "m1").caughtUp(),
			[]*protocol.State{stateOf(running, []string{"m2"}, protocol.HoldUser)},
			continues,
		},
		{
			"a hold that comes later", resumed().queueMessage("m1").caughtUp().holdQueue(protocol.HoldDenyStop),
			[]*protocol.State{
				stateOf(other, []string{"m1"}, ""),
				stateOf(nil, []string{"m1"}, protocol.HoldDenyStop),
			},
			exit.NeedsPerson,
		},
		{
			"what others wait for after it ended", resumed().caughtUp(),
			[]*protocol.State{stateOf(other, nil, "", "r")},
			continues,
		},
		{"the session is closed", resumed().queueMessage("m1").add(protocol.SessionClosed, "",
			protocol.SessionClosedData{}), nil, exit.Failure},
		{
			"another log that has it queued",
			resumed().queueMessage("m1").reset(stateOf(other, []string{"m1"}, "")).caughtUp(),
			[]*protocol.State{stateOf(other, []string{"m1"}, "")},
			continues,
		},
		{
			"another log without it", resumed().queueMessage("m1").reset(stateOf(nil, nil, "")).caughtUp(), nil,
			exit.Failure,
		},
		{
			"another log in which it has ended",
			resumed().startTurn("t1", "m1").reset(&protocol.State{
				Session: "s",
				Last:    &protocol.LastTurn{Turn: "t1", Reason: protocol.ReasonError},
			}).caughtUp(),
			nil, exit.TurnFailed,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tracker := Tracker{CLI: &verb.Context{}, Message: "m1", current: func() (*protocol.State, error) {
				if len(tt.current) == 0 {
					return empty(), nil
				}
				s := tt.current[0]
				tt.current = tt.current[min(1, len(tt.current)-1):]
				return s, nil
			}}
			got := continues
			for i, item := range tt.log.items {
				if got != continues {
					t.Fatalf("ended before item %d", i)
				}
				end, err := tracker.apply(&item)
				if end != nil && err == nil {
					err = failure(end)
				}
				switch {
				case err != nil:
					got = exit.From(err).Status
				case end != nil:
					got = exit.OK
				}
			}
			if got != tt.status {
				t.Errorf("%d, want %d", got, tt.status)
			}
		})
	}
}

func TestATrackerPrintsTheAnswerOnly(t *testing.T) {
	s := resumed().startTurn("t0", "m0").textDelta("t0", "p", "of another turn").endTurn("t0",
		protocol.ReasonCompleted).
		startTurn("t1", "m1").
		add(protocol.RetryScheduled, "t1", protocol.RetryData{
			Attempt: 1, Limit: 5, DelayMS: 1234, Cause: "connection refused\n",
		}).
		add(protocol.ReasoningDelta, "t1", protocol.PartDeltaData{Part: "r", Text: "hidden"}).
		textDelta("t1", "p1", "one ").textDelta("t1", "p1", "two").textDelta("t1", "p2", "three\n").textDelta("t1",
		"p3", "four").
		add(protocol.JoinedDeltas, "t1", protocol.JoinedData{Parts: []protocol.JoinedPart{
			{Part: "p3", Kind: protocol.KindText, Text: " five"},
			{Part: "r", Kind: protocol.KindReasoning, Text: "hidden"},
			{Part: "q", Kind: protocol.KindText, Text: "a task's", Task: "x"},
		}}).endTurn("t1", protocol.ReasonCompleted)
	var out, notes strings.Builder
	tracker := Tracker{CLI: &verb.Context{Out: output.Printer{Stderr: &notes}}, Message: "m1", Print: true, out: &out}
	for _, item := range s.items {
		if _, err := tracker.apply(&item); err != nil {
			t.Fatal(err)
		}
	}
	tracker.endLine()
	if got, want := out.String(), "one two\nthree\nfour five\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := notes.String(), "agentctl: retry 1 of 5 in 1.2s: connection refused\n"; got != want {
		t.Errorf("notes %q, want %q", got, want)
	}
}
