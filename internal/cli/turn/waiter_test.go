package turn

import (
	"testing"
	"time"

	"agentctl/internal/exit"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// An eventLog is the log of a session as the items of a subscription.
type eventLog struct {
	seq   uint64
	items []wsclient.Item
}

// attached starts a log with a snapshot. The next behind events are older than the subscription.
func attached(s *protocol.State, behind uint64) *eventLog {
	at := &protocol.SubscribeResult{
		Session: "s", Mode: protocol.ModeSnapshot, After: protocol.Position{Epoch: "e", Seq: s.Seq},
		Position: protocol.Position{Epoch: "e", Seq: s.Seq + behind}, Snapshot: &protocol.Snapshot{
			Epoch: "e",
			State: s,
		},
	}
	return &eventLog{seq: s.Seq, items: []wsclient.Item{{Attached: at}}}
}

func (s *eventLog) add(typ protocol.Type, turn string, data any) *eventLog {
	s.seq++
	e := &protocol.Event{
		Session: "s", Seq: s.seq, Turn: turn, Time: time.Unix(int64(s.seq),
			0), Type: typ, By: &protocol.Actor{Name: "bob"},
		Data: protocol.MustEncode(data),
	}
	s.items = append(s.items, wsclient.Item{Event: e, Raw: e.AppendJSON(nil)})
	return s
}

func (s *eventLog) startTurn(turn, message string) *eventLog {
	return s.add(protocol.MessageUser, turn, protocol.MessageUserData{Message: protocol.Message{
		MessageID: message,
		Text:      "x",
	}})
}

func (s *eventLog) endTurn(turn string, r protocol.Reason) *eventLog {
	return s.add(protocol.TurnEnded, turn, protocol.TurnEndedData{Reason: r})
}

func (s *eventLog) requestApproval(turn, request string) *eventLog {
	return s.add(protocol.ApprovalRequested, turn,
		protocol.Approval{Request: request, Kind: protocol.ApproveCommand, Command: "ls"})
}

func (s *eventLog) queueMessage(message string) *eventLog {
	return s.add(protocol.QueueAdded, "", protocol.QueueAddedData{Message: protocol.Message{
		MessageID: message,
		Text:      "x",
	}})
}

func (s *eventLog) holdQueue(reason string) *eventLog {
	return s.add(protocol.QueueHeld, "", protocol.Hold{ID: "h", Reason: reason})
}

func empty() *protocol.State { return &protocol.State{Session: "s"} }

func busy() *protocol.State {
	return &protocol.State{Session: "s", Turns: 3, Turn: &protocol.TurnState{Turn: "t0"}}
}

func TestWaitEndsWhenItsConditionHolds(t *testing.T) {
	const continues = -1
	tests := []struct {
		name      string
		condition string
		log       *eventLog
		status    int // after the last item; before it, wait continues
	}{
		{"idle: it is", ForIdle, attached(empty(), 0), exit.OK},
		{"idle: after its turn", ForIdle, attached(busy(), 0).endTurn("t0", protocol.ReasonError), exit.OK},
		{
			"idle: not while something is queued", ForIdle,
			attached(busy(), 0).queueMessage("m").endTurn("t0", protocol.ReasonCompleted), continues,
		},
		{"idle: not before it has caught up", ForIdle, attached(empty(), 2).startTurn("t1", "m1"), continues},
		{"idle: an approval needs a person", ForIdle, attached(busy(), 0).requestApproval("t0", "r"), exit.NeedsPerson},
		{
			"idle: a held queue needs a person", ForIdle, attached(busy(),
				0).queueMessage("m").holdQueue(protocol.HoldUser),
			exit.NeedsPerson,
		},
		{"idle: a hold on nothing does not", ForIdle, attached(busy(), 0).holdQueue(protocol.HoldUser), continues},
		{
			"approval: it comes", ForApproval, attached(empty(), 0).startTurn("t1", "m").requestApproval("t1", "r"),
			exit.OK,
		},
		{
			"approval: not when the turn ends", ForApproval, attached(busy(), 0).endTurn("t0",
				protocol.ReasonCompleted),
			continues,
		},
		{
			"approval: a held queue that nothing else moves needs a person", ForApproval,
			attached(empty(), 0).holdQueue(protocol.HoldUser).queueMessage("m"), exit.NeedsPerson,
		},
		{"turn: the next end counts", ForTurn, attached(busy(), 0).endTurn("t0", protocol.ReasonCompleted), exit.OK},
		{
			"turn: how it ended counts", ForTurn, attached(busy(), 0).endTurn("t0", protocol.ReasonRefusal),
			exit.TurnFailed,
		},
		{
			"turn: so does who ended it", ForTurn, attached(busy(), 0).endTurn("t0", protocol.ReasonInterrupted),
			exit.Interrupted,
		},
		{
			"turn: one that ended before the call does not", ForTurn,
			attached(busy(), 1).endTurn("t0", protocol.ReasonCompleted), continues,
		},
		{"turn: an approval needs a person", ForTurn, attached(busy(), 0).requestApproval("t0", "r"), exit.NeedsPerson},
		{
			"turn: a held queue can wait for the turn", ForTurn,
			attached(busy(), 0).queueMessage("m").holdQueue(protocol.HoldUser),
			continues,
		},
		{"closed: no more events", ForTurn, attached(busy(), 0).add(protocol.SessionClosed, "",
			protocol.SessionClosedData{}), exit.Failure},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := Waiter{Condition: tt.condition}
			for i, item := range tt.log.items {
				done, err := w.Apply(&item)
				got := continues
				switch {
				case err != nil:
					got = exit.From(err).Status
				case done && w.Ended != nil:
					if err := failure(&protocol.TurnEndedData{Reason: w.Ended.Reason}); err != nil {
						got = exit.From(err).Status
					} else {
						got = exit.OK
					}
				case done:
					got = exit.OK
				}
				want := continues
				if i == len(tt.log.items)-1 {
					want = tt.status
				}
				if got != want {
					t.Fatalf("after item %d: %d (%v), want %d", i, got, err, want)
				}
			}
		})
	}
}

func TestWaitSeesATurnThatEndedWhileItWasAway(t *testing.T) {
	w := Waiter{Condition: ForTurn}
	s := attached(busy(), 0)
	if done, err := w.Apply(&s.items[0]); done || err != nil {
		t.Fatal(done, err)
	}
	later := busy()
	later.Turn, later.Turns, later.Last = nil, 4, &protocol.LastTurn{Turn: "t0", Reason: protocol.ReasonError}
	s = attached(later, 0)
	s.items[0].Attached.Mode = protocol.ModeReset
	if done, err := w.Apply(&s.items[0]); !done || err != nil || w.Ended.Reason != protocol.ReasonError {
		t.Error(done, err, w.Ended)
	}
}
