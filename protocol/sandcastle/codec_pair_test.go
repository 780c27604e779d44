package sandcastle

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/internal/dev/sandcastletest"
	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

func init() { thorough.Checks(30, 100) }

// An agentctl server acts once on a message that is sent again before its history shows it.
func TestAtAgentctlASendHasItsKey(t *testing.T) {
	d := sandcastletest.NewClient(t, func(o codec.ClientOptions) codec.Codec {
		o.PeerIsAgentctl = true
		return Dialect.Client(o)
	}, &codec.ClientState{})
	d.Subscribe()
	d.Command(protocol.DoSend, "key-1", protocol.SendData{Text: "Hello"})
	if len(d.Sent) != 1 || !strings.Contains(d.Sent[0], `"agentctl":{"key":"key-1"}`) {
		t.Fatalf("sent %s", d.Sent)
	}
	h := sandcastletest.NewServer(t, Dialect.Server)
	h.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	h.Answers[protocol.DoSend] = protocol.SendResult{Status: protocol.SendStarted, MessageID: "m1"}
	h.Request(strings.Replace(d.Sent[0], `"abc"`, `"s"`, 1))
	if c := h.Commands[len(h.Commands)-1]; c.Command != protocol.DoSend || c.Key != "key-1" {
		t.Errorf("the native server got %s with the key %q", c.Command, c.Key)
	}
}

// SC-49: a decision at agentctl's server is recorded once.
func TestADecisionGoesThroughBothEnds(t *testing.T) {
	l := newCodecPair(t, nil)
	l.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	l.StartTurn("t1", "go")
	l.Append(protocol.ApprovalRequested, "t1", protocol.Approval{
		Request: "r1", Kind: protocol.ApproveQuestion, Title: "Which?",
		Options: []protocol.Option{{ID: "ok", Kind: protocol.AllowOnce}},
		Questions: []protocol.Question{
			{
				ID: "branch", Text: "Which branch?", Many: true,
				Choices: []protocol.Choice{{ID: "main", Label: "the main one"}},
			},
		},
	})
	l.command(protocol.DoSubscribe, "s", "", nil)
	in := &protocol.ApprovalInput{Answers: map[string][]string{"branch": {"main", "another"}}}
	a := l.command(protocol.DoApprove, "s", "", protocol.ApproveData{Option: "ok", Input: in})
	if a == nil || a.Error != nil {
		t.Fatalf("%+v", a)
	}
	asked := l.Commands[len(l.Commands)-1]
	if want := `{"request":"r1","decision":"allow_once","input":{"answers":{"branch":["main","another"]}}}`; string(asked.Data) != want {
		t.Errorf("the native server got %s", asked.Data)
	}
	l.Append(protocol.ApprovalResolved, "t1", protocol.ApprovalResolvedData{
		Request: "r1", Outcome: protocol.Allowed, Decision: protocol.AllowOnce,
	})
	l.emit()
	count := 0
	for _, line := range l.lines {
		if strings.Contains(string(line), `"type":"approval.resolved"`) {
			count++
		}
	}
	if count != 1 {
		t.Errorf("recorded %d times", count)
	}
}

// SC-49: unsupported options are not offered, unsupported decisions are refused, and each decision
// carries its reason.
func TestADecisionHasWhatTheDialectCanSay(t *testing.T) {
	for _, c := range []struct {
		kind string
		give protocol.ApproveData
		want string // received by the native server; empty: unsupported
	}{
		{
			protocol.ApproveCommand,
			protocol.ApproveData{Decision: protocol.Deny, Reason: "use make"},
			`{"request":"r1","decision":"deny","reason":"use make"}`,
		},
		{
			protocol.ApproveTool,
			protocol.ApproveData{Option: "yes", Reason: "go on"},
			`{"request":"r1","decision":"allow_once","reason":"go on"}`,
		},
		{
			protocol.ApprovePlan,
			protocol.ApproveData{Decision: protocol.Deny, Reason: "smaller"},
			`{"request":"r1","decision":"deny","reason":"smaller","input":{"replan":true}}`,
		},
		{
			protocol.ApproveQuestion,
			protocol.ApproveData{Decision: protocol.Deny, Reason: "ask ada"},
			`{"request":"r1","decision":"deny","reason":"ask ada"}`,
		},
		{
			protocol.ApprovePlan,
			protocol.ApproveData{
				Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{Tasks: []protocol.Task{{ID: "a"}}},
			},
			"",
		},
		{
			protocol.ApprovePatch,
			protocol.ApproveData{Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{Patch: "+a"}},
			"",
		},
		{
			protocol.ApproveCommand,
			protocol.ApproveData{Decision: protocol.AllowOnce, Input: &protocol.ApprovalInput{Command: "ls"}},
			"",
		},
		{protocol.ApproveCommand, protocol.ApproveData{Decision: protocol.AllowAlways}, ""},
		{protocol.ApproveCommand, protocol.ApproveData{Decision: protocol.DenyStop}, ""},
		{protocol.ApproveCommand, protocol.ApproveData{Decision: protocol.Explain}, ""},
	} {
		l := newCodecPair(t, nil)
		l.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
		l.StartTurn("t1", "go")
		l.Append(protocol.ApprovalRequested, "t1",
			protocol.Approval{Request: "r1", Kind: c.kind, Options: []protocol.Option{
				{ID: "yes", Kind: protocol.AllowOnce},
				{ID: "ever", Kind: protocol.AllowAlways},
				{ID: "no", Kind: protocol.Deny},
				{ID: "stop", Kind: protocol.DenyStop},
				{ID: "why", Kind: protocol.Explain},
			}})
		l.command(protocol.DoSubscribe, "s", "", nil)
		if s, _ := l.clientView(nil); len(s.Approvals[0].Options) != 2 || s.Approvals[0].Options[0].ID != "yes" ||
			s.Approvals[0].Options[1].ID != "no" {
			t.Errorf("offered %+v", s.Approvals[0].Options)
		}
		c.give.Request = "r1"
		a := l.command(protocol.DoApprove, "s", "", c.give)
		asked := l.Commands[len(l.Commands)-1]
		switch {
		case c.want == "":
			if a == nil || a.Error == nil || a.Error.Code != protocol.CodeUnsupported ||
				!strings.Contains(a.Error.Message, wire.Name) {
				t.Errorf("%+v: %+v", c.give, a)
			}
		case a == nil || a.Error != nil || string(asked.Data) != c.want:
			t.Errorf("%s %+v: %+v, the native server got %s", c.kind, c.give, a, asked.Data)
		}
	}
}

// A snapshot and a decision need no subscription.
func TestADecisionNeedsNoSubscription(t *testing.T) {
	l := newCodecPair(t, nil)
	l.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	l.StartTurn("t1", "go")
	l.Append(protocol.ApprovalRequested, "t1", protocol.Approval{
		Request: "r1", Kind: protocol.ApproveCommand, Command: "ls", Options: []protocol.Option{},
	})
	r := sandcastletest.DecodeResult[protocol.SnapshotResult](*l.command(protocol.DoSnapshot, "s", "", nil))
	if a := r.Snapshot.State.Approvals; r.Status != protocol.Waiting || len(a) != 1 || a[0].Command != "ls" {
		t.Errorf("%+v", r.Snapshot.State)
	}
	if a := l.command(protocol.DoApprove, "s", "", protocol.ApproveData{Decision: protocol.Deny}); a == nil ||
		a.Error != nil {
		t.Errorf("%+v", a)
	}
	for _, line := range l.lines {
		if e, _, _ := protocol.DecodeIncoming(line); e != nil {
			t.Errorf("an event without a subscription: %s", line)
		}
	}
	if a := l.command(protocol.DoSnapshot, "nope", "", nil); a == nil || a.Error == nil ||
		a.Error.Code != protocol.CodeNoSession {
		t.Errorf("%+v", a)
	}
}

// a client without a subscription can clear the queue.
func TestAQueueIsClearedWithoutASubscription(t *testing.T) {
	l := newCodecPair(t, nil)
	l.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	for _, id := range []string{"m1", "m2"} {
		l.Append(protocol.QueueAdded, "", protocol.QueueAddedData{
			Message: protocol.Message{MessageID: id, Text: "later"},
		})
	}
	if a := l.command(protocol.DoInterrupt, "s", "", protocol.InterruptData{Queue: protocol.QueueClear}); a == nil ||
		a.Error != nil {
		t.Errorf("%+v", a)
	}
	var commands []string
	for _, c := range l.Commands {
		if c.Command == protocol.DoQueueRemove || c.Command == protocol.DoInterrupt {
			commands = append(commands, string(c.Command)+string(c.Data))
		}
	}
	sandcastletest.WantLines(t, commands, `queue.remove{"message_id":"m1"}`, `queue.remove{"message_id":"m2"}`, `interrupt{}`)
}

// SC-16, X-5: a held queue is an idle session with items.
func TestAHeldQueueIsAnIdleSessionWithItems(t *testing.T) {
	l := newCodecPair(t, nil)
	l.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	l.Append(protocol.QueueHeld, "", protocol.Hold{ID: "h", Reason: protocol.HoldUser})
	l.Append(protocol.QueueAdded, "", protocol.QueueAddedData{Message: protocol.Message{MessageID: "m", Text: "later"}})
	r := sandcastletest.DecodeResult[protocol.SnapshotResult](*l.command(protocol.DoSnapshot, "s", "", nil))
	if r.Status != protocol.Idle || len(r.Snapshot.State.Queue) != 1 || r.Snapshot.State.Queue[0].Text != "later" {
		t.Errorf("%+v", r.Snapshot.State)
	}
}

// SC-28, SC-29: turns that ended before the client came are its history.
func TestFinishedTurnsAreHistoryAtBothEnds(t *testing.T) {
	l := newCodecPair(t, nil)
	l.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	for _, turn := range []string{"t1", "t2"} {
		l.StartTurn(turn, "ask "+turn)
		l.AppendText(turn, "p", "answer ", turn)
		l.EndTurn(turn, protocol.ReasonCompleted)
	}
	l.command(protocol.DoSubscribe, "s", "", nil)
	l.StartTurn("t3", "now")
	l.EndTurn("t3", protocol.ReasonCompleted)
	l.emit()
	all := sandcastletest.DecodeResult[protocol.HistoryResult](*l.command(protocol.DoHistory, "s", "", nil))
	last := sandcastletest.DecodeResult[protocol.HistoryResult](*l.command(protocol.DoHistory, "s", "",
		protocol.HistoryData{Limit: 1}))
	before := sandcastletest.DecodeResult[protocol.HistoryResult](*l.command(protocol.DoHistory, "s", "",
		protocol.HistoryData{Before: last.First, Limit: 1}))
	text := func(r protocol.HistoryResult) string {
		var texts []string
		for _, t := range turnsOf(r.Events) {
			texts = append(texts, t.Turn, t.Message.Text)
			for _, it := range t.Items {
				texts = append(texts, it.Text.String())
			}
		}
		return strings.Join(texts, " ")
	}
	if got := text(all); got != "t1 ask t1 answer t1 t2 ask t2 answer t2 t3 now" || all.More {
		t.Errorf("all: %s", got)
	}
	if got := text(last); got != "t3 now" || !last.More {
		t.Errorf("the last: %s", got)
	}
	if got := text(before); got != "t2 ask t2 answer t2" || !before.More {
		t.Errorf("before it: %s", got)
	}
}

// SC-26, SC-25, SC-29: broken streams lose nothing. The client continues the current turn, and on
// its next connection learns of turns that have ended. The server repeats a turn unfolded, as real
// servers do.
func TestBrokenStreamsLoseNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		options := map[string]string{"tags": rapid.SampledFrom([]string{"chat", "document"}).Draw(rt, "tags")}
		l := newCodecPair(rt, options)
		l.Joins = false
		g := newSessionGenerator(rt, l.NativeServer)
		past := l.subscribe()
		joined := 1
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			broken := rapid.IntRange(0, 5).Draw(rt, "break") == 0
			if broken {
				l.breakStreams()
			}
			from := len(l.Events)
			for range rapid.IntRange(0, 3).Draw(rt, "meanwhile") {
				g.step()
			}
			l.emit()
			if !broken {
				continue
			}
			l.now = l.now.Add(10 * time.Second) // by then it opens them again
			l.deliverToClient(l.client.Wake(l.now))
			meanwhile := func(types ...protocol.Type) bool {
				return slices.ContainsFunc(l.Events[from:], func(e protocol.Event) bool {
					return slices.Contains(types, e.Type)
				})
			}
			switch ended := meanwhile(protocol.TurnEnded); {
			case ended && !l.closed:
				rt.Fatal("a turn that ended in the gap was missed")
			// not part of InitialState
			case l.closed || meanwhile(protocol.SessionUpdated, protocol.MessageUser):
				l.dial(options)
				past, joined = l.subscribe(), len(l.Events)
			}
		}
		l.compare(past, joined, true)
	})
}
