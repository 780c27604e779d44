package main

import (
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// A story is a session's log as a subscription yields it.
type story struct {
	seq   uint64
	items []wsclient.Item
}

// attached begins with a state, which events to come will be older than the present.
func attached(s *protocol.State, behind uint64) *story {
	at := &protocol.SubscribeResult{
		Session: "s", Mode: protocol.ModeSnapshot, After: protocol.Position{Epoch: "e", Seq: s.Seq},
		Position: protocol.Position{Epoch: "e", Seq: s.Seq + behind}, Snapshot: &protocol.Snapshot{Epoch: "e", State: s},
	}
	return &story{seq: s.Seq, items: []wsclient.Item{{Attached: at}}}
}

func (s *story) event(typ protocol.Type, turn string, data any) *story {
	s.seq++
	e := &protocol.Event{
		Session: "s", Seq: s.seq, Turn: turn, Time: time.Unix(int64(s.seq), 0), Type: typ, By: &protocol.Actor{Name: "bob"},
		Data: protocol.MustEncode(data),
	}
	s.items = append(s.items, wsclient.Item{Event: e, Raw: e.AppendJSON(nil)})
	return s
}

func (s *story) begins(turn, message string) *story {
	return s.event(protocol.MessageUser, turn, protocol.MessageUserData{Message: protocol.Message{MessageID: message, Text: "x"}})
}

func (s *story) ends(turn string, r protocol.Reason) *story {
	return s.event(protocol.TurnEnded, turn, protocol.TurnEndedData{Reason: r})
}

func (s *story) asks(turn, request string) *story {
	return s.event(protocol.ApprovalRequested, turn, protocol.Approval{Request: request, Kind: protocol.ApproveCommand, Command: "ls"})
}

func (s *story) queues(message string) *story {
	return s.event(protocol.QueueAdded, "", protocol.QueueAddedData{Message: protocol.Message{MessageID: message, Text: "x"}})
}

func (s *story) holds(reason string) *story {
	return s.event(protocol.QueueHeld, "", protocol.Hold{ID: "h", Reason: reason})
}

func empty() *protocol.State { return &protocol.State{Session: "s"} }

func busy() *protocol.State {
	return &protocol.State{Session: "s", Turns: 3, Turn: &protocol.TurnState{Turn: "t0"}}
}

func TestWaitEndsWhenWhatItWaitsForIsThere(t *testing.T) {
	const goesOn = -1
	tests := []struct {
		name  string
		what  string
		story *story
		exit  int // after the last item; before it, wait goes on
	}{
		{"idle: it is", forIdle, attached(empty(), 0), exitDone},
		{"idle: after its turn", forIdle, attached(busy(), 0).ends("t0", protocol.ReasonError), exitDone},
		{"idle: not while something is queued", forIdle, attached(busy(), 0).queues("m").ends("t0", protocol.ReasonCompleted), goesOn},
		{"idle: old news does not count", forIdle, attached(empty(), 2).begins("t1", "m1"), goesOn},
		{"idle: an approval needs a person", forIdle, attached(busy(), 0).asks("t0", "r"), exitNeedsPerson},
		{"idle: a held queue needs a person", forIdle, attached(busy(), 0).queues("m").holds(protocol.HoldUser), exitNeedsPerson},
		{"idle: a hold on nothing does not", forIdle, attached(busy(), 0).holds(protocol.HoldUser), goesOn},
		{"approval: it comes", forApproval, attached(empty(), 0).begins("t1", "m").asks("t1", "r"), exitDone},
		{"approval: not when the turn ends", forApproval, attached(busy(), 0).ends("t0", protocol.ReasonCompleted), goesOn},
		{"approval: a held queue that nothing else moves needs a person", forApproval, attached(empty(), 0).holds(protocol.HoldUser).queues("m"), exitNeedsPerson},
		{"turn: the next end counts", forTurn, attached(busy(), 0).ends("t0", protocol.ReasonCompleted), exitDone},
		{"turn: how it ended counts", forTurn, attached(busy(), 0).ends("t0", protocol.ReasonRefusal), exitTurnFailed},
		{"turn: so does who ended it", forTurn, attached(busy(), 0).ends("t0", protocol.ReasonInterrupted), exitInterrupted},
		{"turn: one that ended before the call does not", forTurn, attached(busy(), 1).ends("t0", protocol.ReasonCompleted), goesOn},
		{"turn: an approval needs a person", forTurn, attached(busy(), 0).asks("t0", "r"), exitNeedsPerson},
		{"turn: a held queue can wait for the turn", forTurn, attached(busy(), 0).queues("m").holds(protocol.HoldUser), goesOn},
		{"closed: nothing comes any more", forTurn, attached(busy(), 0).event(protocol.SessionClosed, "", protocol.SessionClosedData{}), exitError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := watcher{what: tt.what}
			for i, item := range tt.story.items {
				done, err := w.step(&item)
				got := goesOn
				switch {
				case err != nil:
					got = faultOf(err).exit
				case done && w.ended != nil:
					if err := turnFault(&protocol.TurnEndedData{Reason: w.ended.Reason}); err != nil {
						got = faultOf(err).exit
					} else {
						got = exitDone
					}
				case done:
					got = exitDone
				}
				want := goesOn
				if i == len(tt.story.items)-1 {
					want = tt.exit
				}
				if got != want {
					t.Fatalf("after item %d: %d (%v), want %d", i, got, err, want)
				}
			}
		})
	}
}

func TestWaitSeesATurnThatEndedWhileItWasAway(t *testing.T) {
	w := watcher{what: forTurn}
	s := attached(busy(), 0)
	if done, err := w.step(&s.items[0]); done || err != nil {
		t.Fatal(done, err)
	}
	later := busy()
	later.Turn, later.Turns, later.Last = nil, 4, &protocol.LastTurn{Turn: "t0", Reason: protocol.ReasonError}
	s = attached(later, 0)
	s.items[0].Attached.Mode = protocol.ModeReset
	if done, err := w.step(&s.items[0]); !done || err != nil || w.ended.Reason != protocol.ReasonError {
		t.Error(done, err, w.ended)
	}
}
