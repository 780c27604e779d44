package effectiveagent

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// newLatePair connects a client to agentctl's server with existing sessions.
func newLatePair(p *codecPair, memory *codec.ClientState) *codecPair {
	again := &codecPair{newServerHarness(p.fakeServer.t), newAgentctlClientHarness(p.fakeServer.t, memory)}
	again.epoch, again.states, again.logs, again.boundaries = p.epoch, p.states, p.logs, p.boundaries
	return again
}

// newPendingPair has a session with a pending approval and a queued message.
func newPendingPair(t *testing.T) *codecPair {
	p := newCodecPair(t)
	for _, e := range []struct {
		typ  protocol.Type
		turn string
		data any
	}{
		{protocol.SessionCreated, "", protocol.SessionCreatedData{Name: "fix-ci", Agent: "claude"}},
		{protocol.MessageUser, "t1", protocol.MessageUserData{Message: protocol.Message{
			MessageID: "m1",
			Text:      "clean up",
		}}},
		{protocol.TextStart, "t1", protocol.PartStartData{Part: "p1"}},
		{protocol.TextDelta, "t1", protocol.PartDeltaData{Part: "p1", Text: "I would remove it"}},
		{
			protocol.ApprovalRequested, "t1",
			protocol.Approval{Request: "a1", Kind: protocol.ApproveCommand, Title: "Remove", Command: "rm -rf build"},
		},
		{protocol.QueueAdded, "", protocol.QueueAddedData{Message: protocol.Message{
			MessageID: "m2",
			Text:      "and then",
		}}},
	} {
		p.newEvent("s1", e.typ, e.turn, e.data)
	}
	return p
}

// A late client gets the pending approval, the text of its turn and the queue, and can decide
// immediately.
func TestAPendingRequestIsSeenByWhoComesLate(t *testing.T) {
	p := newLatePair(newPendingPair(t), nil)
	id := p.send(protocol.DoSnapshot, "fix-ci", nil)
	var r protocol.SnapshotResult
	p.guest.result(id, &r)
	st := r.Snapshot.State
	if r.Status != protocol.Waiting || len(st.Approvals) != 1 || st.Approvals[0].Command != "rm -rf build" ||
		len(st.Queue) != 1 || st.Name != "fix-ci" {
		t.Errorf("%s: %+v", r.Status, st)
	}
	p.send(protocol.DoSubscribe, "fix-ci", nil)
	if got := p.guest.eventTypes(); !strings.Contains(got, "text.delta approval.requested queue.added") {
		t.Errorf("got %s", got)
	}

	p = newLatePair(newPendingPair(t), nil)
	p.results[protocol.DoApprove] = protocol.ApproveResult{
		Request: "a1", Outcome: protocol.Denied, Decision: protocol.Deny,
	}
	id = p.send(protocol.DoApprove, "fix-ci", protocol.ApproveData{Decision: protocol.Deny})
	p.publish("s1", protocol.ApprovalResolved, "t1",
		protocol.ApprovalResolvedData{Request: "a1", Outcome: protocol.Denied, Decision: protocol.Deny})
	var d protocol.ApproveResult
	if p.guest.result(id, &d); d.Outcome != protocol.Denied || d.Request != "a1" {
		t.Errorf("answered %+v", d)
	}
}

// EA-7: a third-party client gets no past activities.
func TestAClientOfAnotherKindIsToldNothingOfThePast(t *testing.T) {
	p := newPendingPair(t)
	if sent := p.receive(`{"type":"subscribe","agentRuntimeId":"fix-ci"}`); len(sent) != 0 {
		t.Errorf("got %s", sent)
	}
}

// A session subscribed at any moment is equal at both ends from then on: its state and the current
// turn.
func TestASessionJoinedLateCrossesWhole(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newCodecPair(t)
		events := history(rt)
		joins := rapid.IntRange(1, len(events)).Draw(rt, "joins")
		// From the last turn's end before the subscription.
		state, truth := &protocol.State{Session: "s1"}, &protocol.Transcript{}
		for i := range events {
			line := p.record(&events[i])
			e := events[i]
			e.Seq = state.Seq + 1
			if err := state.Apply(&e); err != nil {
				rt.Fatal(err)
			}
			if _, err := truth.Apply(&e); err != nil {
				rt.Fatal(err)
			}
			if e.Type == protocol.TurnEnded && i < joins {
				state.Seq, truth = 0, &protocol.Transcript{}
			}
			switch {
			case i == joins-1:
				p = newLatePair(p, nil)
				p.send(protocol.DoSubscribe, "s1", nil)
			case i >= joins:
				p.deliver(line)
			}
		}
		for _, both := range [][2]any{{state, p.guest.state}, {truth, p.guest.transcript}} {
			if there, here := protocol.MustEncode(both[0]),
				protocol.MustEncode(both[1]); string(there) != string(here) {
				rt.Fatalf("at the server %s\nat the client %s", there, here)
			}
		}
	})
}

// Commands wait until all past activities arrived.
func TestWhatWaitsIsAnsweredWhenAllThatIsPastHasCome(t *testing.T) {
	g := newAgentctlClientHarness(t, nil)
	id := g.send(protocol.DoSnapshot, "r", nil)
	if sent := g.flush(); len(sent) != 1 || sent[0] != `{"type":"subscribe","agentRuntimeId":"r","metadata":{"agentctl":{"whole":true}}}` {
		t.Fatalf("sent %s", sent)
	}
	g.receive(activityFrame(`{"type":"status","payload":null,"metadata":{"agentctl":{"after":"e1:7","state":{"session":"x","seq":7,"name":"fix"},"until":9}}}`),
		activityFrame(`{"id":"e1:8","type":"input","payload":{"message_id":"m","text":"x"},"metadata":{"agentctl":{"event":"message.user","turn":"t1"}}}`))
	if _, ok := g.answers[id]; ok {
		t.Fatalf("answered before the last of it: %+v", g.answers[id])
	}
	g.receive(activityFrame(`{"id":"e1:9","type":"status","payload":{"message_id":"m"},"metadata":{"agentctl":{"event":"turn.started","turn":"t1"}}}`))
	var r protocol.SnapshotResult
	if g.result(id, &r); r.Status != protocol.Running || r.Snapshot.State.Name != "fix" ||
		r.Snapshot.State.Session != "r" {
		t.Errorf("%+v", r)
	}
}

// After a reconnect to a server with another log, the session has the server's state, and earlier
// history is dropped.
func TestALogThatWasReplacedIsLearnedAnew(t *testing.T) {
	p := newLatePair(newPendingPair(t), nil)
	at := p.send(protocol.DoSubscribe, "s1", nil)
	var first protocol.SubscribeResult
	p.guest.result(at, &first)
	again := newLatePair(p, &codec.ClientState{Value: p.guest.codec.state})
	again.epoch = "e0e0e0"
	id := again.send(protocol.DoSubscribe, "s1", protocol.SubscribeData{Position: &first.Position})
	var r protocol.SubscribeResult
	if again.guest.result(id, &r); r.Mode != protocol.ModeReset || r.Reason != protocol.ResetFresh {
		t.Errorf("attached %+v", r)
	}
	if st := again.guest.state; len(st.Approvals) != 1 || st.Turn == nil || st.Turn.Turn != "t1" {
		t.Errorf("the session is %s", protocol.MustEncode(st))
	}
}
