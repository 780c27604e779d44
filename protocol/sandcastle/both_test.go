package sandcastle

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"agentctl/protocol"
)

// SC-49: a decision that our client takes at a server of ours is the server's own, and told once.
func TestADecisionGoesThroughBothEnds(t *testing.T) {
	l := newLink(t, nil)
	l.add(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	l.user("t1", "go")
	l.add(protocol.ApprovalRequested, "t1", protocol.Approval{
		Request: "r1", Kind: protocol.ApproveQuestion, Title: "Which?", Options: []protocol.Option{{ID: "ok", Kind: protocol.AllowOnce}},
		Questions: []protocol.Question{{ID: "branch", Text: "Which branch?", Many: true, Choices: []protocol.Choice{{ID: "main", Label: "the main one"}}}},
	})
	l.does(protocol.DoSubscribe, "s", "", nil)
	in := &protocol.ApprovalInput{Answers: map[string][]string{"branch": {"main", "another"}}}
	a := l.does(protocol.DoApprove, "s", "", protocol.ApproveData{Option: "ok", Input: in})
	if a == nil || a.Error != nil {
		t.Fatalf("%+v", a)
	}
	asked := l.asked[len(l.asked)-1]
	if want := `{"request":"r1","decision":"allow_once","input":{"answers":{"branch":["main","another"]}}}`; string(asked.Data) != want {
		t.Errorf("our server was told %s", asked.Data)
	}
	l.add(protocol.ApprovalResolved, "t1", protocol.ApprovalResolvedData{Request: "r1", Outcome: protocol.Allowed, Decision: protocol.AllowOnce})
	l.happens()
	told := 0
	for _, line := range l.lines {
		if strings.Contains(string(line), `"type":"approval.resolved"`) {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}

// A script asks and decides without following.
func TestADecisionNeedsNoSubscription(t *testing.T) {
	l := newLink(t, nil)
	l.add(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	l.user("t1", "go")
	l.add(protocol.ApprovalRequested, "t1", protocol.Approval{Request: "r1", Kind: protocol.ApproveCommand, Command: "ls", Options: []protocol.Option{}})
	r := result[protocol.SnapshotResult](*l.does(protocol.DoSnapshot, "s", "", nil))
	if a := r.Snapshot.State.Approvals; r.Status != protocol.Waiting || len(a) != 1 || a[0].Command != "ls" {
		t.Errorf("%+v", r.Snapshot.State)
	}
	if a := l.does(protocol.DoApprove, "s", "", protocol.ApproveData{Decision: protocol.Deny}); a == nil || a.Error != nil {
		t.Errorf("%+v", a)
	}
	for _, line := range l.lines {
		if e, _, _ := protocol.DecodeIncoming(line); e != nil {
			t.Errorf("an event that nobody follows: %s", line)
		}
	}
	if a := l.does(protocol.DoSnapshot, "nope", "", nil); a == nil || a.Error == nil || a.Error.Code != protocol.CodeNoSession {
		t.Errorf("%+v", a)
	}
}

// SC-16, X-5: a held queue is an idle session with items.
func TestAHeldQueueIsAnIdleSessionWithItems(t *testing.T) {
	l := newLink(t, nil)
	l.add(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	l.add(protocol.QueueHeld, "", protocol.Hold{ID: "h", Reason: protocol.HoldUser})
	l.add(protocol.QueueAdded, "", protocol.QueueAddedData{Message: protocol.Message{MessageID: "m", Text: "later"}})
	r := result[protocol.SnapshotResult](*l.does(protocol.DoSnapshot, "s", "", nil))
	if r.Status != protocol.Idle || len(r.Snapshot.State.Queue) != 1 || r.Snapshot.State.Queue[0].Text != "later" {
		t.Errorf("%+v", r.Snapshot.State)
	}
}

// SC-28, SC-29: what finished before our client came is its history.
func TestFinishedTurnsAreHistoryAtBothEnds(t *testing.T) {
	l := newLink(t, nil)
	l.add(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	for _, turn := range []string{"t1", "t2"} {
		l.user(turn, "ask "+turn)
		l.words(turn, "p", "answer ", turn)
		l.ends(turn, protocol.ReasonCompleted)
	}
	l.does(protocol.DoSubscribe, "s", "", nil)
	l.user("t3", "now")
	l.ends("t3", protocol.ReasonCompleted)
	l.happens()
	all := result[protocol.HistoryResult](*l.does(protocol.DoHistory, "s", "", nil))
	last := result[protocol.HistoryResult](*l.does(protocol.DoHistory, "s", "", protocol.HistoryData{Limit: 1}))
	before := result[protocol.HistoryResult](*l.does(protocol.DoHistory, "s", "", protocol.HistoryData{Before: last.First, Limit: 1}))
	said := func(r protocol.HistoryResult) string {
		var words []string
		for _, t := range turnsOf(r.Events) {
			words = append(words, t.Turn, t.Message.Text)
			for _, it := range t.Items {
				words = append(words, it.Text.String())
			}
		}
		return strings.Join(words, " ")
	}
	if got := said(all); got != "t1 ask t1 answer t1 t2 ask t2 answer t2 t3 now" || all.More {
		t.Errorf("all: %s", got)
	}
	if got := said(last); got != "t3 now" || !last.More {
		t.Errorf("the last: %s", got)
	}
	if got := said(before); got != "t2 ask t2 answer t2" || !before.More {
		t.Errorf("before it: %s", got)
	}
}

// SC-26, SC-25: streams that break off, however often, cost our client nothing but the end of a turn that it missed. As their
// servers do, this one repeats the turn as it said it.
func TestBrokenStreamsLoseNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newLink(rt, map[string]string{"tags": "chat"})
		l.unfolded = true
		g := newTeller(rt, l.host)
		l.does(protocol.DoSubscribe, "s", "", nil)
		missed := false
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			broken := rapid.IntRange(0, 5).Draw(rt, "break") == 0
			if broken {
				for _, c := range l.server.calls {
					l.atServer(l.server.do(l.now, func() { l.server.end(c, died(c.id, "boom")) }))
				}
			}
			from := len(l.events)
			for range rapid.IntRange(0, 3).Draw(rt, "meanwhile") {
				g.step()
			}
			l.happens()
			if broken {
				for _, e := range l.events[from:] { // not part of their state, or approximated
					switch e.Type {
					case protocol.TurnEnded, protocol.SessionUpdated, protocol.MessageUser:
						missed = true
					}
				}
				l.now = l.now.Add(pingEvery)
				l.atClient(l.client.Wake(l.now))
			}
			if missed {
				break
			}
		}
		s, tr := l.seen() // folds without error in any case
		if missed {
			return
		}
		want, wantTr := &protocol.State{}, &protocol.Transcript{}
		for i := range l.events {
			_ = want.Apply(&l.events[i])
			_, _ = wantTr.Apply(&l.events[i])
		}
		clearUntold(want, l.events, 0)
		if got, want := lossy(tr, 0), lossy(wantTr, 0); got != want {
			rt.Fatalf("%s", apart(got, want))
		}
		if got, want := lossyState(s), lossyState(want); got != want {
			rt.Fatalf("%s", apart(got, want))
		}
	})
}

// The examples of the document: a message with its parts, and the events that its code reads.
func TestTheDocumentsExamples(t *testing.T) {
	var p payload
	example := `{"sessionId":"abc","content":"Hello","parts":[{"type":"text","text":"Hello"}],"clientMessageId":"temp_123"}`
	if err := json.Unmarshal([]byte(example), &p); err != nil || p.SessionID != "abc" || *p.Content != "Hello" || p.ClientMessageID != "temp_123" {
		t.Errorf("%+v %v", p, err)
	}
	if parts := nativeParts(*p.Content, p.Parts); parts != nil {
		t.Errorf("the agent hears the text twice: %+v", parts)
	}
	for got, want := range map[string]any{
		`{"status":"started","messageId":"msg_456"}`: sendResult{Status: "started", MessageID: "msg_456"},
		`{"interrupted":false}`:                      interruptResult{},
		`{"interrupted":true}`:                       interruptResult{true},
		`{"removed":true}`:                           dequeueResult{true},
		`{"removed":false}`:                          dequeueResult{},
		`{"_tag":"SessionStopped","turnId":"t","reason":"interrupted"}`: sessionEvent{Tag: sessionStopped, TurnID: "t", Reason: stopInterrupted},
		`{"_tag":"MessageDequeued","messageId":"m"}`:                    sessionEvent{Tag: messageDequeued, MessageID: "m"},
		`{"type":"finish","finishReason":"stop"}`:                       chatEvent{Type: chatFinish, FinishReason: finishStop},
	} {
		if s := string(protocol.MustEncode(want)); s != got {
			t.Errorf("got %s, want %s", s, got)
		}
	}
}
