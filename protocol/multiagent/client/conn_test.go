package client

import (
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/codectest"
	"agentctl/internal/dev/multiagenttest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// MA-6, MA-7, MA-8, MA-11, MA-13: the client sends the document's examples and accepts its answers.
func TestTheClientsExamplesOfTheDocument(t *testing.T) {
	c := newClientTest(t, nil)
	ping := c.Command(protocol.DoPing, "", nil)
	c.WantSent(`{ "type": "PING" }`)
	if c.Answers[ping] != nil {
		t.Error("ping is answered before the PONG")
	}
	c.Receive(`{ "type": "PONG" }`)
	if codectest.Result[protocol.Empty](&c.Client, ping) == nil {
		t.Error("ping has no answer")
	}

	made := c.Command(protocol.DoCreate, "", protocol.CreateData{Agent: "software_development", Name: "fix"})
	c.WantSent(`{ "type": "start_conversation", "payload": { "domainId": "software_development" } }`)
	c.Receive(`{ "type": "conversation_started", "payload": { "conversationId": "uuid", "domainId": "software_development", "activeAgent": "agent_id" } }`)
	if r := codectest.Result[protocol.CreateResult](&c.Client, made); r == nil || r.Session != "uuid" || r.Name != "fix" {
		t.Fatalf("%v", c.Answers[made])
	}
	c.Subscribe()
	if c.State.Agent != "agent_id" {
		t.Errorf("agent %q", c.State.Agent)
	}

	sent := c.Command(protocol.DoSend, "fix", protocol.SendData{Text: "Hello, help me with..."})
	c.WantSent(`{ "type": "send_message", "conversationId": "uuid", "payload": { "content": "Hello, help me with..." } }`)
	c.Receive(multiagenttest.ChunkExample)
	if r := codectest.Result[protocol.SendResult](&c.Client, sent); r == nil || r.Status != protocol.SendStarted ||
		r.Turn != c.State.Turn.Turn {
		t.Fatalf("%v", c.Answers[sent])
	}
	c.Receive(multiagenttest.ApprovalExample)
	a := c.State.PendingApproval("uuid")
	if a == nil || a.Name != "Tool Name" || a.Title != a.Name || a.Why != "Tool description" ||
		string(a.Input) != "{}" || c.State.Status() != protocol.Waiting {
		t.Fatalf("%+v", a)
	}
	ok := c.Command(protocol.DoApprove, "uuid", protocol.ApproveData{
		Decision: protocol.AllowOnce, Reason: "optional rejection reason",
	})
	c.WantSent(`{ "type": "approve_tool", "conversationId": "uuid", "requestId": "uuid", "payload": { "approved": true, "reason": "optional rejection reason" } }`)
	c.Receive(multiagenttest.ExecutedExample)
	if r := codectest.Result[protocol.ApproveResult](&c.Client, ok); r == nil || r.Outcome != protocol.Allowed {
		t.Fatalf("%v", c.Answers[ok])
	}
	stop := c.Command(protocol.DoInterrupt, "uuid", nil)
	c.WantSent(`{ "type": "cancel_stream", "conversationId": "uuid" }`)
	c.Receive(multiagenttest.ErrorMessage(wire.CodeCancelled))
	if r := codectest.Result[protocol.InterruptResult](&c.Client, stop); r == nil || !r.Interrupted ||
		c.State.Last.Reason != protocol.ReasonInterrupted {
		t.Fatalf("%v", c.Answers[stop])
	}

	c.Send("again")
	c.Receive(multiagenttest.CompleteExample)
	last := c.Transcript.Current()
	if c.State.Turn != nil || last.End.Reason != protocol.ReasonCompleted || last.End.Usage.Output != 150 ||
		last.End.DurationMS != 2500 {
		t.Errorf("%+v", last.End)
	}
	if c.Text() != "partial text"+"full response text" {
		t.Errorf("%q", c.Text())
	}
	c.Send("again")
	c.Receive(multiagenttest.ErrorExample)
	if c.State.Last.Reason != protocol.ReasonError || c.State.Last.Message != "Error message" {
		t.Errorf("%+v", c.State.Last)
	}
}

// MA-9: each chunk is recorded once, and the complete message adds what the chunks omitted.
func TestChunksAndTheWholeJoin(t *testing.T) {
	chunk := func(text string) string {
		return `{"type":"message_chunk","conversationId":"uuid","payload":{"messageId":"m","chunk":"` + text +
			`","agentName":"a"}}`
	}
	whole := func(text string) string {
		return `{"type":"message_complete","conversationId":"uuid","payload":{"messageId":"m","content":"` + text +
			`","agentName":"a"}}`
	}
	for _, c := range []struct {
		frames []string
		want   string
	}{
		{[]string{chunk("ab"), chunk("cd"), whole("abcd")}, "abcd"},
		{[]string{chunk("ab"), whole("abcd")}, "abcd"},
		{[]string{whole("abcd")}, "abcd"},
		{[]string{chunk("abcd"), whole("")}, "abcd"},
		{[]string{chunk("cd"), whole("abcd")}, "cdabcd"},
		{[]string{chunk("abcd"), whole("ab")}, "abcd"},
	} {
		o := newClientTest(t, nil)
		o.Subscribe()
		o.Send("x")
		o.Receive(c.frames...)
		if o.Text() != c.want || o.State.Turn != nil {
			t.Errorf("%v: %q, want %q", c.frames, o.Text(), c.want)
		}
	}
}

// MA-16: an error fails the request that it answers.
func TestErrorsAnswerWhatTheyAreAbout(t *testing.T) {
	for code, want := range map[string]protocol.Code{
		wire.CodeBadRequest: protocol.CodeInvalidMessage, wire.CodeForbidden: protocol.CodeForbidden, wire.CodeNotFound: protocol.CodeNoSession,
		wire.CodeNotConfigured: protocol.CodeNoAgent, wire.CodeStreamError: protocol.CodeAgentFailed,
		wire.CodeRequestFailed: protocol.CodeAgentFailed,
		"of_tomorrow":          protocol.CodeAgentFailed,
	} {
		c := newClientTest(t, nil)
		c.Subscribe()
		id := c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
		c.Receive(multiagenttest.ErrorMessage(code))
		if c.ErrorCode(id) != want || c.State.Turn != nil || len(c.Transcript.Turns) != 0 {
			t.Errorf("send, %s: %v", code, c.Answers[id])
		}
	}
	for code, want := range map[string]protocol.Code{
		wire.CodeForbidden: protocol.CodeForbidden, wire.CodeNotFound: protocol.CodeNotFound, wire.CodeExecuteFailed: protocol.CodeAgentFailed,
		wire.CodeRejectFailed: protocol.CodeAgentFailed,
	} {
		c := newClientTest(t, nil)
		c.Subscribe()
		c.Send("x")
		c.Receive(multiagenttest.ApprovalExample)
		id := c.Command(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.AllowOnce})
		c.Receive(multiagenttest.ErrorMessage(code))
		if c.ErrorCode(id) != want || c.State.PendingApproval("uuid") == nil {
			t.Errorf("approve, %s: %v", code, c.Answers[id])
		}
	}
	c := newClientTest(t, nil)
	made := c.Command(protocol.DoCreate, "", protocol.CreateData{})
	c.Receive(`{"type":"error","error":"no such domain","payload":{"code":"not_found","message":"no such domain"}}`)
	if len(codecOf(c).Paths()) != 1 || c.Answers[made] != nil {
		t.Errorf("create: %v before the domains were read", c.Answers[made])
	}
	c.Deliver(codecOf(c).PathRead(c.Now, domainsPath, []byte(`[{"id":"writing"},{"id":"cooking"}]`)))
	if c.ErrorCode(made) != protocol.CodeNoAgent ||
		!strings.HasSuffix(c.Answers[made].Error.Message, "want one of cooking, writing") {
		t.Errorf("create: %v", c.Answers[made])
	}
	unread := c.Command(protocol.DoCreate, "", protocol.CreateData{Agent: "x"})
	c.Receive(`{"type":"error","error":"no such domain","payload":{"code":"not_found","message":"no such domain"}}`)
	c.Advance()
	if c.ErrorCode(unread) != protocol.CodeNoAgent {
		t.Errorf("create, domains not read: %v", c.Answers[unread])
	}
	late := c.Command(protocol.DoCreate, "", protocol.CreateData{})
	c.Advance()
	if c.ErrorCode(late) != protocol.CodeTimeout {
		t.Errorf("create: %v", c.Answers[late])
	}
}

// MA-11: the real system sends cancelled twice. The second one must not end the next turn.
func TestCancelledTwice(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Send("one")
	queued := c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "two"})
	if r := codectest.Result[protocol.SendResult](&c.Client, queued); r == nil || r.Status != protocol.SendQueued || len(c.Frames) != 0 {
		t.Fatalf("%v", c.Answers[queued])
	}
	stop := c.Command(protocol.DoInterrupt, "uuid", nil)
	c.Receive(multiagenttest.ErrorMessage(wire.CodeCancelled), multiagenttest.ErrorMessage(wire.CodeCancelled))
	if r := codectest.Result[protocol.InterruptResult](&c.Client, stop); r == nil || !r.Interrupted {
		t.Fatal("not interrupted")
	}
	if c.State.Turn == nil || c.State.Turn.Message.Text != "two" {
		t.Errorf("the queued message did not start: %+v", c.State.Turn)
	}
	idle := newClientTest(t, nil)
	id := idle.Command(protocol.DoInterrupt, "uuid", nil)
	idle.Receive(`{"type":"error","conversationId":"uuid","error":"No active stream","payload":{"code":"not_found","message":"No active stream"}}`)
	if r := codectest.Result[protocol.InterruptResult](&idle.Client, id); r == nil || r.Interrupted {
		t.Errorf("%v", idle.Answers[id])
	}
}

// the client queues messages, because the real server would cancel its stream.
func TestTheClientKeepsTheQueue(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Send("one")
	for _, text := range []string{"two", "three", "four"} {
		c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: text})
	}
	id := func(i int) string { return c.State.Queue[i].MessageID }
	c.Command(protocol.DoQueueMove, "uuid", protocol.QueueMoveData{MessageID: id(2), Index: 0})
	c.Command(protocol.DoQueueEdit, "uuid", protocol.QueueEditData{MessageID: id(0), Text: "FOUR"})
	c.Command(protocol.DoQueueRemove, "uuid", protocol.QueueRemoveData{MessageID: id(1)})
	held := c.Command(protocol.DoQueueHold, "uuid", protocol.QueueHoldData{})
	c.WantSent()
	c.Receive(multiagenttest.CompleteExample)
	c.WantSent()
	if len(c.State.Queue) != 2 || c.State.Status() != protocol.Idle ||
		codectest.Result[protocol.QueueHoldResult](&c.Client, held) == nil {
		t.Fatalf("%+v", c.State)
	}
	c.Command(protocol.DoQueueRelease, "uuid", protocol.QueueReleaseData{})
	c.WantSent(`{"type":"send_message","conversationId":"uuid","payload":{"content":"FOUR"}}`)
	c.Command(protocol.DoInterrupt, "uuid", protocol.InterruptData{Queue: protocol.QueueClear})
	c.Receive(multiagenttest.ErrorMessage(wire.CodeCancelled))
	c.WantSent(`{"type":"cancel_stream","conversationId":"uuid"}`)
	if len(c.State.Queue) != 0 {
		t.Errorf("%+v", c.State.Queue)
	}
}

// MA-14: a rejected tool is denied once, and later decisions get conflict.
func TestRejections(t *testing.T) {
	gone := `{"type":"tool_executed","conversationId":"uuid","payload":{"requestId":"uuid","toolName":"Tool Name","result":null,"success":false,"errorMessage":"nope"}}`
	for _, mine := range []bool{true, false} {
		c := newClientTest(t, nil)
		c.Subscribe()
		c.Send("x")
		c.Receive(multiagenttest.ApprovalExample)
		id := ""
		if mine {
			id = c.Command(protocol.DoApprove, "uuid", protocol.ApproveData{Option: "deny", Reason: "nope"})
			c.Receive(gone, multiagenttest.ErrorMessage(wire.CodeRejected))
			if r := codectest.Result[protocol.ApproveResult](&c.Client, id); r == nil || r.Outcome != protocol.Denied {
				t.Fatalf("%v", c.Answers[id])
			}
		} else {
			c.Receive(gone)
		}
		items := c.Transcript.Current().Items
		tool, asked := items[0], items[1]
		if tool.Tool.End.Status != protocol.ToolDenied || asked.Resolved.Outcome != protocol.Denied ||
			asked.Resolved.Reason != "nope" || c.State.Turn == nil {
			t.Errorf("%+v %+v", tool.Tool.End, asked.Resolved)
		}
		late := c.Command(protocol.DoApprove, "uuid", protocol.ApproveData{
			Request: "uuid", Decision: protocol.AllowOnce,
		})
		if c.ErrorCode(late) != protocol.CodeConflict || c.Answers[late].Error.Winner == nil {
			t.Errorf("%v", c.Answers[late])
		}
	}
}

// A request for another plan is a denial with the reason.
func TestAReplanIsADenialWithReason(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Send("x")
	c.Receive(multiagenttest.ApprovalExample)
	id := c.Command(protocol.DoApprove, "uuid", protocol.ApproveData{
		Decision: protocol.Deny, Reason: "fewer tasks", Input: &protocol.ApprovalInput{Replan: true},
	})
	c.WantSent(`{"type":"approve_tool","conversationId":"uuid","requestId":"uuid","payload":{"approved":false,"reason":"fewer tasks"}}`)
	c.Receive(multiagenttest.ErrorMessage(wire.CodeRejected))
	if r := codectest.Result[protocol.ApproveResult](&c.Client, id); r == nil || r.Outcome != protocol.Denied {
		t.Errorf("%v", c.Answers[id])
	}
}

// MA-4: a server accepts a connection before it rejects the credential, so commands wait for its
// first message.
func TestNothingIsAnsweredBeforeTheServerHasAnswered(t *testing.T) {
	for name, sign := range map[string]func(*multiagenttest.Client){
		"its PONG":      func(c *multiagenttest.Client) { c.Receive(`{"type":"PONG"}`) },
		"anything else": func(c *multiagenttest.Client) { c.Receive(multiagenttest.ChunkExample) },
		"too much waited": func(c *multiagenttest.Client) {
			for range maxRequests {
				c.Command(protocol.DoList, "", nil)
			}
		},
	} {
		c := newClientTest(t, nil)
		c.Codec = New(codec.ClientOptions{Name: "ada", ID: c.NewID, Resume: c.Resume})
		c.Deliver(c.Codec.Open(c.Now))
		c.WantSent(`{"type":"PING"}`)
		id := c.Command(protocol.DoHello, "", nil)
		ping := c.Command(protocol.DoPing, "", nil)
		if c.Answers[id] != nil {
			t.Errorf("%s: answered before the first message", name)
		}
		if sign(c); c.Answers[id] == nil || c.Answers[ping] != nil {
			t.Errorf("%s: %v %v", name, c.Answers[id], c.Answers[ping])
		}
		c.WantSent(`{"type":"PING"}`)
		if c.Receive(`{"type":"PONG"}`, `{"type":"PONG"}`); c.Answers[ping] == nil {
			t.Errorf("%s: no answer to its PONG", name)
		}
	}
}

// A one-shot client has no queue, so a message during a turn fails: the server would cancel its
// stream.
func TestAOneShotClientDoesNotQueue(t *testing.T) {
	c := newClientTest(t, nil)
	codecOf(c).Options.OneShot = true
	c.Send("x")
	id := c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "y"})
	if c.ErrorCode(id) != protocol.CodeUnsupported || len(c.Frames) != 0 {
		t.Errorf("answered %+v, sent %s", c.Answers[id], c.Frames)
	}
}

// MA-6: a server without an answer to PING does not speak the dialect.
func TestAServerWithoutPongTimesOut(t *testing.T) {
	c := newClientTest(t, nil)
	c.Codec = New(codec.ClientOptions{Name: "ada", ID: c.NewID, Resume: c.Resume})
	c.Deliver(c.Codec.Open(c.Now))
	id := c.Command(protocol.DoHello, "", nil)
	if c.Advance(); c.ErrorCode(id) != protocol.CodeTimeout ||
		!strings.Contains(c.Answers[id].Error.Message, "does not speak multiagent") {
		t.Errorf("answered %+v", c.Answers[id])
	}
}

const deniedTool = `{"type":"tool_executed","conversationId":"uuid",
	"payload":{"requestId":"uuid","toolName":"rm","result":null,"success":false,"errorMessage":"nope"}}`

// MA-14: the denial of a tool request is its end at the real system, which sends nothing more. Its
// two messages come in either order, and neither starts a turn.
func TestADeniedToolRequestEnds(t *testing.T) {
	confirmed := multiagenttest.ErrorMessage(wire.CodeRejected)
	for _, frames := range [][]string{{deniedTool, confirmed}, {confirmed, deniedTool}, {deniedTool}, {confirmed}, {}} {
		for _, decision := range []protocol.Decision{"", protocol.Deny, protocol.DenyStop} {
			c := newClientTest(t, nil)
			c.Subscribe()
			c.Send("/tool rm {}")
			c.Receive(multiagenttest.ApprovalExample)
			later := c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "later"})
			if decision != "" {
				c.Command(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: decision})
			} else if len(frames) == 0 || frames[0] != deniedTool {
				continue // another client's rejection
			}
			c.Frames = nil
			c.Receive(frames...)
			if len(frames) == 0 {
				c.Advance() // the decision counts without an answer
			}
			if !slices.Contains(frames, deniedTool) {
				c.Advance() // nothing follows
			}
			if len(c.Transcript.Turns) == 0 || c.Transcript.Turns[0].End == nil ||
				c.Transcript.Turns[0].End.Reason != protocol.ReasonDenied {
				t.Fatalf("%q, %s: %+v", frames, decision, c.State.Turn)
			}
			if decision == protocol.DenyStop {
				c.WantSent()
				c.Command(protocol.DoQueueRelease, "uuid", nil)
			}
			c.WantSent(`{"type":"send_message","conversationId":"uuid","payload":{"content":"later"}}`)
			if len(c.Transcript.Turns) != 2 || c.Answers[later] == nil {
				t.Errorf("%q, %s: %d turns", frames, decision, len(c.Transcript.Turns))
			}
		}
	}
}

// An agent of agentctl's server continues after a denial, however long it takes.
func TestAtAgentctlATurnGoesOnAfterADenial(t *testing.T) {
	c := newClientTestAt(t, true, nil)
	c.Subscribe()
	c.Send("/tool rm {}")
	c.Receive(multiagenttest.ApprovalExample, deniedTool)
	if c.State.Turn == nil || !c.Wake.IsZero() {
		t.Errorf("%+v, next wake %v", c.State.Turn, c.Wake)
	}
}

// MA-11: a tool request has no stream to cancel. It ends at the client, and the request stays
// pending at the server.
func TestAnInterruptEndsAToolRequest(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Send("/tool rm {}")
	c.Receive(multiagenttest.ApprovalExample)
	stop := c.Command(protocol.DoInterrupt, "uuid", nil)
	c.Receive(multiagenttest.ErrorMessage(wire.CodeNotFound))
	if r := codectest.Result[protocol.InterruptResult](&c.Client, stop); r == nil || !r.Interrupted ||
		c.State.Last.Reason != protocol.ReasonInterrupted {
		t.Errorf("%+v, ended %+v", r, c.State.Last)
	}
	if c.Receive(deniedTool); c.State.Turn != nil || len(c.Transcript.Turns) != 1 {
		t.Errorf("a late denial: %d turns", len(c.Transcript.Turns))
	}
}

// The real system confirms a decision only to connections that used the conversation. A decision
// about a request that the client has not received fails with a timeout.
func TestAnUnconfirmedDecisionTimesOut(t *testing.T) {
	for _, agentctl := range []bool{false, true} {
		c := newClientTestAt(t, agentctl, nil)
		c.Subscribe()
		id := c.Command(protocol.DoApprove, "uuid", protocol.ApproveData{Request: "r", Decision: protocol.AllowOnce})
		if !agentctl {
			c.Advance()
		}
		if code := c.ErrorCode(id); agentctl != (code == "") || !agentctl && code != protocol.CodeTimeout {
			t.Errorf("at agentctl %v: %+v", agentctl, c.Answers[id])
		}
		id = c.Command(protocol.DoApprove, "uuid", protocol.ApproveData{Request: "s", Decision: protocol.Deny})
		c.Receive(multiagenttest.ErrorMessage(wire.CodeRejected))
		if r := codectest.Result[protocol.ApproveResult](&c.Client, id); r == nil || r.Outcome != protocol.Denied {
			t.Errorf("rejected: %+v", c.Answers[id])
		}
	}
}

// An error about a decision answers the decision of its kind.
func TestAnErrorAnswersTheDecisionOfItsKind(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	allow := c.Command(protocol.DoApprove, "uuid", protocol.ApproveData{Request: "r", Decision: protocol.AllowOnce})
	deny := c.Command(protocol.DoApprove, "uuid", protocol.ApproveData{Request: "s", Decision: protocol.Deny})
	c.Receive(multiagenttest.ErrorMessage(wire.CodeRejected))
	r := codectest.Result[protocol.ApproveResult](&c.Client, deny)
	if r == nil || r.Outcome != protocol.Denied || c.Answers[allow] != nil {
		t.Errorf("allow: %+v, deny: %+v", c.Answers[allow], c.Answers[deny])
	}
}

// The real system reports only the count of output tokens: a count of 0 means unknown.
func TestOnlyReportedUsageIsRecorded(t *testing.T) {
	for count, want := range map[string]*protocol.Usage{"0": nil, "9": {Output: 9}} {
		c := newClientTest(t, nil)
		c.Subscribe()
		c.Send("x")
		c.Receive(strings.Replace(multiagenttest.CompleteExample, "150", count, 1))
		if got := c.Transcript.Turns[0].End.Usage; (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s tokens: %+v", count, got)
		}
	}
}

// agentctl's server continues a turn after a tool, even a turn of another client without any text.
func TestAnotherClientsTurnGoesOnAfterATool(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Receive(multiagenttest.ApprovalExample, multiagenttest.ExecutedExample, multiagenttest.ChunkExample)
	if !c.Wake.IsZero() {
		t.Error("the end of the turn is scheduled")
	}
	if c.Receive(multiagenttest.CompleteExample); len(c.Transcript.Turns) != 1 || c.State.Turn != nil {
		t.Errorf("%d turns, %+v", len(c.Transcript.Turns), c.State.Turn)
	}
}

func TestAnotherClientsTurn(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Receive(multiagenttest.ChunkExample, multiagenttest.CompleteExample, multiagenttest.ApprovalExample, multiagenttest.ExecutedExample)
	c.Advance()
	if len(c.Transcript.Turns) != 2 || c.State.Turn != nil || c.Transcript.Turns[0].Message.By != nil {
		t.Errorf("%d turns, %+v", len(c.Transcript.Turns), c.State.Turn)
	}
}

// MA-21, X-9: after a lost connection the turn ends with an error, the queue continues and the
// history remains.
func TestReconnect(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Send("one")
	c.Receive(multiagenttest.CompleteExample)
	c.Send("two")
	c.Receive(multiagenttest.ChunkExample)
	c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "three"})
	at := protocol.Position{Epoch: c.At.Epoch, Seq: c.State.Seq}
	c.Connect()
	c.WantSent(`{"type":"send_message","conversationId":"uuid","payload":{"content":"three"}}`)
	id := c.Command(protocol.DoSubscribe, "uuid", protocol.SubscribeData{Position: &at})
	r := codectest.Result[protocol.SubscribeResult](&c.Client, id)
	if r.Mode != protocol.ModeReset || r.Reason != protocol.ResetResubscribed || r.Position.Epoch == at.Epoch ||
		r.Snapshot.State.Last.Reason != protocol.ReasonError {
		t.Fatalf("%+v", r)
	}
	if c.State.Turn == nil || c.State.Turn.Message.Text != "three" {
		t.Errorf("%+v", c.State)
	}
	past := codectest.Result[protocol.HistoryResult](&c.Client, c.Command(protocol.DoHistory, "uuid", protocol.HistoryData{}))
	if all := string(protocol.MustEncode(past.Events)); !strings.Contains(all, "full response text") ||
		!strings.Contains(all, "partial text") {
		t.Errorf("%s", all)
	}
}

func TestAKeyIsCarriedOutOnceAlsoOverAReconnect(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Do(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "x"})
	c.Connect()
	c.Frames = nil
	again := c.Do(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "x"})
	if r := codectest.Result[protocol.SendResult](&c.Client, again); r == nil || r.Status != protocol.SendStarted || len(c.Frames) != 0 {
		t.Errorf("%v, %s", c.Answers[again], c.Frames)
	}
	if id := c.Do(protocol.DoSend, "uuid", "k",
		protocol.SendData{Text: "y"}); c.ErrorCode(id) != protocol.CodeKeyReused {
		t.Errorf("%v", c.Answers[id])
	}
}

func TestWatch(t *testing.T) {
	c := newClientTest(t, nil)
	c.Command(protocol.DoWatch, "", nil)
	c.Subscribe()
	published := len(c.Summaries())
	c.Command(protocol.DoWatch, "", nil)
	if len(c.Summaries()) != published {
		t.Errorf("a listed session is published again: %+v", c.Summaries())
	}
	c.Send("x")
	if len(c.Summaries()) == 0 || c.Summaries()[len(c.Summaries())-1].Status != protocol.Running {
		t.Errorf("%+v", c.Summaries())
	}
	if r := codectest.Result[protocol.ListResult](&c.Client, c.Command(protocol.DoList, "", nil)); len(r.Sessions) != 1 {
		t.Errorf("%+v", r)
	}
}

// Unknown messages are recorded.
func TestWhatIsUnknownIsKept(t *testing.T) {
	c := newClientTest(t, map[string]string{"thinking": "true"})
	c.Subscribe()
	c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
	c.WantSent(`{"type":"send_message","conversationId":"uuid","payload":{"content":"x","enableThinking":true}}`)
	deep := strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000)
	c.Receive(
		`{"type":"workflow_handoff","conversationId":"uuid","payload":{"fromAgent":"a","toAgent":"b"}}`,
		`{"type":"tomorrow","conversationId":"uuid","payload":{"x":`+deep+`}}`,
		`{"type":"tomorrow","x":"`+strings.Repeat("y", 1<<20)+`"}`,
		`not JSON`,
		`{"type":"agent_selected","conversationId":"uuid","agent_id":"b","agent_name":"Bea"}`,
		`{"type":"workflow_thought","payload":{"agentId":"b","agentName":"Bea","conversationId":"uuid","reason":"because"}}`,
	)
	raws, thought := 0, ""
	for _, e := range c.Events {
		switch e.Type {
		case protocol.Raw:
			raws++
		case protocol.ReasoningDelta:
			thought = string(e.Data)
		}
	}
	if raws != 4 || !strings.Contains(thought, "because") || c.State.Agent != "Bea" {
		t.Errorf("%d raw, %s, %q", raws, thought, c.State.Agent)
	}
}

func TestWhatTheDialectCannotSay(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Send("x")
	c.Receive(multiagenttest.ApprovalExample)
	for _, id := range []string{
		c.Command(protocol.DoCompact, "uuid", nil),
		c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "x", Parts: []protocol.Part{{Type: "file"}}}),
		c.Command(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.AllowAlways}),
		c.Command(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.Explain}),
	} {
		if a := c.Answers[id]; c.ErrorCode(id) != protocol.CodeUnsupported || !strings.Contains(a.Error.Message, wire.Name) {
			t.Errorf("%s: %+v", id, a)
		}
	}
}

// deny and stop rejects the tool, cancels the stream and holds the queue.
func TestDenyAndStop(t *testing.T) {
	c := newClientTest(t, nil)
	c.Subscribe()
	c.Send("x")
	c.Receive(multiagenttest.ApprovalExample)
	c.Command(protocol.DoSend, "uuid", protocol.SendData{Text: "later"})
	id := c.Command(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.DenyStop, Reason: "nope"})
	c.WantSent(`{"type":"approve_tool","conversationId":"uuid","requestId":"uuid","payload":{"approved":false,"reason":"nope"}}`)
	c.Receive(`{"type":"tool_executed","conversationId":"uuid","payload":{"requestId":"uuid","toolName":"rm","result":null,"success":false,"errorMessage":"nope"}}`)
	if r := codectest.Result[protocol.ApproveResult](&c.Client, id); r == nil || r.Outcome != protocol.Denied ||
		r.Decision != protocol.DenyStop {
		t.Fatalf("%v", c.Answers[id])
	}
	c.WantSent(multiagenttest.CancelExample)
	c.Receive(multiagenttest.ErrorMessage(wire.CodeRejected), multiagenttest.ErrorMessage(wire.CodeCancelled), multiagenttest.ErrorMessage(wire.CodeCancelled))
	if c.State.Turn != nil || c.State.Last.Reason != protocol.ReasonDenied || len(c.Frames) > 0 {
		t.Errorf("%+v, sent %s", c.State.Last, c.Frames)
	}
	if h := c.State.BlockingHold(); h == nil || h.Reason != protocol.HoldDenyStop || len(c.State.Queue) != 1 {
		t.Errorf("%+v", h)
	}
	c.Command(protocol.DoQueueRelease, "uuid", nil)
	c.WantSent(`{"type":"send_message","conversationId":"uuid","payload":{"content":"later"}}`)
}

// A snapshot or decision requests updates first, and is answered once pending approvals had time to
// arrive.
func TestASnapshotRequestsUpdates(t *testing.T) {
	c := newClientTest(t, nil)
	id := c.Command(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.AllowOnce})
	c.WantSent(`{"type":"PING","conversationId":"uuid"}`)
	c.Receive(`{"type":"PONG"}`,
		`{"type":"tool_approval_required","conversationId":"uuid","payload":{"requestId":"r","toolName":"n","toolArgs":{}}}`)
	c.Advance()
	c.WantSent(`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":true}}`)
	c.Advance()
	if r := codectest.Result[protocol.ApproveResult](&c.Client, id); r == nil || r.Outcome != protocol.Allowed {
		t.Errorf("%v", c.Answers[id])
	}
	id = c.Command(protocol.DoSnapshot, "nobody", nil)
	c.Receive(`{"type":"error","conversationId":"nobody","error":"no such conversation","payload":{"code":"not_found","message":"no such conversation"}}`)
	if c.ErrorCode(id) != protocol.CodeNoSession {
		t.Errorf("%v", c.Answers[id])
	}
}
