package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

func (s *story) caughtUp() *story {
	s.items = append(s.items, wsclient.Item{Event: &protocol.Event{Session: "s", Time: time.Unix(0, 0), Type: protocol.CaughtUp}})
	return s
}

func (s *story) says(turn, part, text string) *story {
	return s.event(protocol.TextDelta, turn, protocol.PartDeltaData{Part: part, Text: text})
}

// resumed begins after a position, as a follower does.
func resumed() *story {
	s := attached(empty(), 0)
	s.items[0].Attached.Mode, s.items[0].Attached.Snapshot = protocol.ModeResume, nil
	return s
}

// reset goes on in another log, from a state.
func (s *story) reset(state *protocol.State) *story {
	more := attached(state, 0)
	more.items[0].Attached.Mode = protocol.ModeReset
	more.items = append(slices.Clone(s.items), more.items...)
	return more
}

// of makes the state that the follower is told when it asks for the one of now.
func of(turn *protocol.TurnState, queue []string, hold string, approvals ...string) *protocol.State {
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

func TestAFollowerEndsWithItsMessagesTurn(t *testing.T) {
	const goesOn = -1
	ours := &protocol.TurnState{Turn: "t1", Message: protocol.Message{MessageID: "m1"}}
	other := &protocol.TurnState{Turn: "t0", Message: protocol.Message{MessageID: "m0"}}
	removed := protocol.QueueRemovedData{MessageID: "m1", Reason: protocol.RemovedUser}
	started := protocol.QueueRemovedData{MessageID: "m1", Reason: protocol.RemovedStarted}
	tests := []struct {
		name  string
		story *story
		now   []*protocol.State // told one after another, the last again and again
		exit  int
	}{
		{"completed", resumed().begins("t1", "m1").ends("t1", protocol.ReasonCompleted), nil, exitDone},
		{"failed", resumed().begins("t1", "m1").ends("t1", protocol.ReasonError), nil, exitTurnFailed},
		{"interrupted", resumed().begins("t1", "m1").ends("t1", protocol.ReasonInterrupted), nil, exitInterrupted},
		{"not with another's turn", resumed().queues("m1").ends("t0", protocol.ReasonError), nil, goesOn},
		{"queued, then started", resumed().queues("m1").event(protocol.QueueRemoved, "", started).begins("t1", "m1").ends("t1", protocol.ReasonCompleted), nil, exitDone},
		{"taken out of the queue", resumed().queues("m1").event(protocol.QueueRemoved, "", removed), nil, exitInterrupted},
		{"an approval of its own turn", resumed().begins("t1", "m1").asks("t1", "r").caughtUp(), []*protocol.State{of(ours, nil, "", "r")}, exitNeedsPerson},
		{"an approval of a turn before it", resumed().queues("m1").caughtUp(), []*protocol.State{of(other, []string{"m1"}, "", "r")}, exitNeedsPerson},
		{"an approval before it, which is queued only then", resumed().caughtUp().queues("m1"), []*protocol.State{of(other, nil, "", "r"), of(other, []string{"m1"}, "", "r")}, exitNeedsPerson},
		{"an approval that was decided meanwhile", resumed().begins("t1", "m1").asks("t1", "r").caughtUp(), []*protocol.State{of(ours, nil, "")}, goesOn},
		{"a hold before it", resumed().queues("m1").caughtUp(), []*protocol.State{of(other, []string{"m1"}, protocol.HoldUser)}, exitNeedsPerson},
		{"a hold behind it", resumed().begins("t1", "m1").caughtUp(), []*protocol.State{of(ours, []string{"m2"}, protocol.HoldUser)}, goesOn},
		{"a hold that comes later", resumed().queues("m1").caughtUp().holds(protocol.HoldDenyStop), []*protocol.State{of(other, []string{"m1"}, ""), of(nil, []string{"m1"}, protocol.HoldDenyStop)}, exitNeedsPerson},
		{"what others wait for after it ended", resumed().caughtUp(), []*protocol.State{of(other, nil, "", "r")}, goesOn},
		{"the session is closed", resumed().queues("m1").event(protocol.SessionClosed, "", protocol.SessionClosedData{}), nil, exitError},
		{"another log that has it queued", resumed().queues("m1").reset(of(other, []string{"m1"}, "")).caughtUp(), []*protocol.State{of(other, []string{"m1"}, "")}, goesOn},
		{"another log that knows nothing of it", resumed().queues("m1").reset(of(nil, nil, "")).caughtUp(), nil, exitError},
		{
			"another log in which it has ended",
			resumed().begins("t1", "m1").reset(&protocol.State{Session: "s", Last: &protocol.LastTurn{Turn: "t1", Reason: protocol.ReasonError}}).caughtUp(),
			nil, exitTurnFailed,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := follower{app: &app{}, message: "m1", now: func() (*protocol.State, error) {
				if len(tt.now) == 0 {
					return empty(), nil
				}
				s := tt.now[0]
				tt.now = tt.now[min(1, len(tt.now)-1):]
				return s, nil
			}}
			got := goesOn
			for i, item := range tt.story.items {
				if got != goesOn {
					t.Fatalf("ended before item %d", i)
				}
				end, err := f.step(&item)
				if end != nil && err == nil {
					err = turnFault(end)
				}
				switch {
				case err != nil:
					got = faultOf(err).exit
				case end != nil:
					got = exitDone
				}
			}
			if got != tt.exit {
				t.Errorf("%d, want %d", got, tt.exit)
			}
		})
	}
}

func TestAFollowerPrintsTheAnswerAlone(t *testing.T) {
	s := resumed().begins("t0", "m0").says("t0", "p", "somebody else's").ends("t0", protocol.ReasonCompleted).begins("t1", "m1").
		event(protocol.ReasoningDelta, "t1", protocol.PartDeltaData{Part: "r", Text: "hidden"}).
		says("t1", "p1", "one ").says("t1", "p1", "two").says("t1", "p2", "three\n").says("t1", "p3", "four").
		event(protocol.JoinedDeltas, "t1", protocol.JoinedData{Parts: []protocol.JoinedPart{
			{Part: "p3", Kind: protocol.KindText, Text: " five"},
			{Part: "r", Kind: protocol.KindReasoning, Text: "hidden"},
			{Part: "q", Kind: protocol.KindText, Text: "a task's", Task: "x"},
		}}).ends("t1", protocol.ReasonCompleted)
	var out strings.Builder
	f := follower{app: &app{}, message: "m1", show: true, out: &out}
	for _, item := range s.items {
		if _, err := f.step(&item); err != nil {
			t.Fatal(err)
		}
	}
	f.endLine()
	if got, want := out.String(), "one two\nthree\nfour five\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
