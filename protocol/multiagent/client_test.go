package multiagent

import (
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

func failure(code string) string {
	return string(errorFrame("uuid", code, "because").encode().Data)
}

// MA-6, MA-7, MA-8, MA-11, MA-13: what our client says is what the document shows, and it takes what the document answers.
func TestTheClientsExamplesOfTheDocument(t *testing.T) {
	c := newCaller(t, nil)
	ping := c.asks(protocol.DoPing, "", nil)
	c.wants(`{ "type": "PING" }`)
	if c.answers[ping] != nil {
		t.Error("ping is answered by nobody")
	}
	c.says(`{ "type": "PONG" }`)
	if result[protocol.Empty](c, ping) == nil {
		t.Error("ping has no answer")
	}

	made := c.asks(protocol.DoCreate, "", protocol.CreateData{Agent: "software_development", Name: "fix"})
	c.wants(`{ "type": "start_conversation", "payload": { "domainId": "software_development" } }`)
	c.says(`{ "type": "conversation_started", "payload": { "conversationId": "uuid", "domainId": "software_development", "activeAgent": "agent_id" } }`)
	if r := result[protocol.CreateResult](c, made); r == nil || r.Session != "uuid" || r.Name != "fix" {
		t.Fatalf("%v", c.answers[made])
	}
	c.follows()
	if c.state.Agent != "agent_id" {
		t.Errorf("agent %q", c.state.Agent)
	}

	sent := c.asks(protocol.DoSend, "fix", protocol.SendData{Text: "Hello, help me with..."})
	c.wants(`{ "type": "send_message", "conversationId": "uuid", "payload": { "content": "Hello, help me with..." } }`)
	c.says(chunkExample)
	if r := result[protocol.SendResult](c, sent); r == nil || r.Status != protocol.SendStarted || r.Turn != c.state.Turn.Turn {
		t.Fatalf("%v", c.answers[sent])
	}
	c.says(askExample)
	a := c.state.PendingApproval("uuid")
	if a == nil || a.Name != "Tool Name" || a.Title != "Tool description" || string(a.Input) != "{}" || c.state.Status() != protocol.Waiting {
		t.Fatalf("%+v", a)
	}
	ok := c.asks(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.AllowOnce, Reason: "optional rejection reason"})
	c.wants(`{ "type": "approve_tool", "conversationId": "uuid", "requestId": "uuid", "payload": { "approved": true, "reason": "optional rejection reason" } }`)
	c.says(executedExample)
	if r := result[protocol.ApproveResult](c, ok); r == nil || r.Outcome != protocol.Allowed {
		t.Fatalf("%v", c.answers[ok])
	}
	stop := c.asks(protocol.DoInterrupt, "uuid", nil)
	c.wants(`{ "type": "cancel_stream", "conversationId": "uuid" }`)
	c.says(failure(cancelled))
	if r := result[protocol.InterruptResult](c, stop); r == nil || !r.Interrupted || c.state.Last.Reason != protocol.ReasonInterrupted {
		t.Fatalf("%v", c.answers[stop])
	}

	c.sends("again")
	c.says(completeExample)
	last := c.story.Current()
	if c.state.Turn != nil || last.End.Reason != protocol.ReasonCompleted || last.End.Usage.Output != 150 || last.End.DurationMS != 2500 {
		t.Errorf("%+v", last.End)
	}
	if c.text() != "partial text"+"full response text" {
		t.Errorf("%q", c.text())
	}
	c.sends("again")
	c.says(errorExample)
	if c.state.Last.Reason != protocol.ReasonError || c.state.Last.Message != "Error message" {
		t.Errorf("%+v", c.state.Last)
	}
}

// MA-9: chunks are said once, and what they left out is taken from the whole.
func TestChunksAndTheWholeJoin(t *testing.T) {
	chunk := func(text string) string {
		return `{"type":"message_chunk","conversationId":"uuid","payload":{"messageId":"m","chunk":"` + text + `","agentName":"a"}}`
	}
	whole := func(text string) string {
		return `{"type":"message_complete","conversationId":"uuid","payload":{"messageId":"m","content":"` + text + `","agentName":"a"}}`
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
		o := newCaller(t, nil)
		o.follows()
		o.sends("x")
		o.says(c.frames...)
		if o.text() != c.want || o.state.Turn != nil {
			t.Errorf("%v: %q, want %q", c.frames, o.text(), c.want)
		}
	}
}

// MA-16: each code answers what it is about.
func TestErrorsAnswerWhatTheyAreAbout(t *testing.T) {
	for code, want := range map[string]protocol.Code{
		badRequest: protocol.CodeInvalidMessage, forbidden: protocol.CodeForbidden, notFound: protocol.CodeNoSession,
		notConfigured: protocol.CodeNoAgent, streamError: protocol.CodeAgentFailed, requestFailed: protocol.CodeAgentFailed,
		"of_tomorrow": protocol.CodeAgentFailed,
	} {
		c := newCaller(t, nil)
		c.follows()
		id := c.asks(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
		c.says(failure(code))
		if c.code(id) != want || c.state.Turn != nil || len(c.story.Turns) != 0 {
			t.Errorf("send, %s: %v", code, c.answers[id])
		}
	}
	for code, want := range map[string]protocol.Code{
		forbidden: protocol.CodeForbidden, notFound: protocol.CodeNotFound, executeFailed: protocol.CodeAgentFailed, rejectFailed: protocol.CodeAgentFailed,
	} {
		c := newCaller(t, nil)
		c.follows()
		c.sends("x")
		c.says(askExample)
		id := c.asks(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.AllowOnce})
		c.says(failure(code))
		if c.code(id) != want || c.state.PendingApproval("uuid") == nil {
			t.Errorf("approve, %s: %v", code, c.answers[id])
		}
	}
	c := newCaller(t, nil)
	made := c.asks(protocol.DoCreate, "", protocol.CreateData{})
	c.says(`{"type":"error","error":"no such domain","payload":{"code":"not_found","message":"no such domain"}}`)
	if c.code(made) != protocol.CodeNoAgent {
		t.Errorf("create: %v", c.answers[made])
	}
	late := c.asks(protocol.DoCreate, "", protocol.CreateData{})
	c.waits()
	if c.code(late) != protocol.CodeTimeout {
		t.Errorf("create: %v", c.answers[late])
	}
}

// MA-11: the real system says cancelled twice; the next turn must not be hit by the second.
func TestCancelledTwice(t *testing.T) {
	c := newCaller(t, nil)
	c.follows()
	c.sends("one")
	queued := c.asks(protocol.DoSend, "uuid", protocol.SendData{Text: "two"})
	if r := result[protocol.SendResult](c, queued); r == nil || r.Status != protocol.SendQueued || len(c.frames) != 0 {
		t.Fatalf("%v", c.answers[queued])
	}
	stop := c.asks(protocol.DoInterrupt, "uuid", nil)
	c.says(failure(cancelled), failure(cancelled))
	if r := result[protocol.InterruptResult](c, stop); r == nil || !r.Interrupted {
		t.Fatal("not interrupted")
	}
	if c.state.Turn == nil || c.state.Turn.Message.Text != "two" {
		t.Errorf("the queued message does not run: %+v", c.state.Turn)
	}
	idle := newCaller(t, nil)
	id := idle.asks(protocol.DoInterrupt, "uuid", nil)
	idle.says(`{"type":"error","conversationId":"uuid","error":"No active stream","payload":{"code":"not_found","message":"No active stream"}}`)
	if r := result[protocol.InterruptResult](idle, id); r == nil || r.Interrupted {
		t.Errorf("%v", idle.answers[id])
	}
}

// our client queues, because the real server would cancel the running stream.
func TestTheQueueIsOurs(t *testing.T) {
	c := newCaller(t, nil)
	c.follows()
	c.sends("one")
	for _, text := range []string{"two", "three", "four"} {
		c.asks(protocol.DoSend, "uuid", protocol.SendData{Text: text})
	}
	id := func(i int) string { return c.state.Queue[i].MessageID }
	c.asks(protocol.DoQueueMove, "uuid", protocol.QueueMoveData{MessageID: id(2), Index: 0})
	c.asks(protocol.DoQueueEdit, "uuid", protocol.QueueEditData{MessageID: id(0), Text: "FOUR"})
	c.asks(protocol.DoQueueRemove, "uuid", protocol.QueueRemoveData{MessageID: id(1)})
	held := c.asks(protocol.DoQueueHold, "uuid", protocol.QueueHoldData{})
	c.wants()
	c.says(completeExample)
	c.wants()
	if len(c.state.Queue) != 2 || c.state.Status() != protocol.Idle || result[protocol.QueueHoldResult](c, held) == nil {
		t.Fatalf("%+v", c.state)
	}
	c.asks(protocol.DoQueueRelease, "uuid", protocol.QueueReleaseData{})
	c.wants(`{"type":"send_message","conversationId":"uuid","payload":{"content":"FOUR"}}`)
	c.asks(protocol.DoInterrupt, "uuid", protocol.InterruptData{Queue: protocol.QueueClear})
	c.says(failure(cancelled))
	c.wants(`{"type":"cancel_stream","conversationId":"uuid"}`)
	if len(c.state.Queue) != 0 {
		t.Errorf("%+v", c.state.Queue)
	}
}

// MA-14: a tool that somebody rejected is denied, once, and later decisions come too late.
func TestRejections(t *testing.T) {
	gone := `{"type":"tool_executed","conversationId":"uuid","payload":{"requestId":"uuid","toolName":"Tool Name","result":null,"success":false,"errorMessage":"nope"}}`
	for _, mine := range []bool{true, false} {
		c := newCaller(t, nil)
		c.follows()
		c.sends("x")
		c.says(askExample)
		id := ""
		if mine {
			id = c.asks(protocol.DoApprove, "uuid", protocol.ApproveData{Option: "deny", Reason: "nope"})
			c.says(gone, failure(rejected))
			if r := result[protocol.ApproveResult](c, id); r == nil || r.Outcome != protocol.Denied {
				t.Fatalf("%v", c.answers[id])
			}
		} else {
			c.says(gone)
		}
		items := c.story.Current().Items
		tool, asked := items[0], items[1]
		if tool.Tool.End.Status != protocol.ToolDenied || asked.Resolved.Outcome != protocol.Denied || asked.Resolved.Reason != "nope" || c.state.Turn == nil {
			t.Errorf("%+v %+v", tool.Tool.End, asked.Resolved)
		}
		late := c.asks(protocol.DoApprove, "uuid", protocol.ApproveData{Request: "uuid", Decision: protocol.AllowOnce})
		if c.code(late) != protocol.CodeConflict || c.answers[late].Error.Winner == nil {
			t.Errorf("%v", c.answers[late])
		}
	}
}

// A plan that is to be made again is denied, and the reason says so.
func TestAnotherPlanIsAskedForByTheReason(t *testing.T) {
	c := newCaller(t, nil)
	c.follows()
	c.sends("x")
	c.says(askExample)
	id := c.asks(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.Deny, Reason: "fewer tasks", Input: &protocol.ApprovalInput{Replan: true}})
	c.wants(`{"type":"approve_tool","conversationId":"uuid","requestId":"uuid","payload":{"approved":false,"reason":"fewer tasks"}}`)
	c.says(failure(rejected))
	if r := result[protocol.ApproveResult](c, id); r == nil || r.Outcome != protocol.Denied {
		t.Errorf("%v", c.answers[id])
	}
}

// MA-4: a server accepts whom it then closes, so nothing is answered before it has answered.
func TestNothingIsAnsweredBeforeTheServerHasAnswered(t *testing.T) {
	for name, sign := range map[string]func(*caller){
		"its PONG":      func(c *caller) { c.says(`{"type":"PONG"}`) },
		"anything else": func(c *caller) { c.says(chunkExample) },
		"too much waited": func(c *caller) {
			for range maxWaits {
				c.asks(protocol.DoList, "", nil)
			}
		},
	} {
		c := newCaller(t, nil)
		c.codec = NewClient(codec.ClientOptions{Name: "ada", ID: c.mint, Resume: c.memory})
		c.do(c.codec.Open(c.now))
		c.wants(`{"type":"PING"}`)
		id := c.asks(protocol.DoHello, "", nil)
		ping := c.asks(protocol.DoPing, "", nil)
		if c.answers[id] != nil {
			t.Errorf("%s: answered at once", name)
		}
		if sign(c); c.answers[id] == nil || c.answers[ping] != nil {
			t.Errorf("%s: %v %v", name, c.answers[id], c.answers[ping])
		}
		c.wants(`{"type":"PING"}`)
		if c.says(`{"type":"PONG"}`); c.answers[ping] == nil {
			t.Errorf("%s: the second PONG answers nothing", name)
		}
	}
}

// Who is gone after a command has no queue for what a server would cancel its work for, if it is known that it works.
func TestABriefClientsMessageDoesNotWait(t *testing.T) {
	c := newCaller(t, nil)
	c.codec.call.OneShot = true
	c.sends("x")
	id := c.asks(protocol.DoSend, "uuid", protocol.SendData{Text: "y"})
	if c.code(id) != protocol.CodeUnsupported || len(c.frames) != 0 {
		t.Errorf("answered %+v, said %s", c.answers[id], c.frames)
	}
}

// MA-6: what answers no PING is no server of the dialect, or none that works.
func TestALongSilenceIsTold(t *testing.T) {
	c := newCaller(t, nil)
	c.codec = NewClient(codec.ClientOptions{Name: "ada", ID: c.mint, Resume: c.memory})
	c.do(c.codec.Open(c.now))
	id := c.asks(protocol.DoHello, "", nil)
	if c.waits(); c.code(id) != protocol.CodeTimeout || !strings.Contains(c.answers[id].Error.Message, "does not speak multiagent") {
		t.Errorf("answered %+v", c.answers[id])
	}
}

func TestAToolCommandEndsWithItsTool(t *testing.T) {
	c := newCaller(t, nil)
	c.follows()
	c.sends("/tool rm {}")
	c.says(askExample, `{"type":"tool_executed","conversationId":"uuid","payload":{"requestId":"uuid","toolName":"rm","result":null,"success":false,"errorMessage":"nope"}}`)
	if c.state.Turn == nil {
		t.Error("an agent that goes on would begin another turn")
	}
	c.waits()
	if c.state.Turn != nil || c.state.Last.Reason != protocol.ReasonCompleted {
		t.Error("the turn waits for what never comes")
	}
}

// A server of our kind goes on after a tool, also in a turn that somebody else began and in which nothing was said yet.
func TestSomebodyElsesTurnGoesOnAfterATool(t *testing.T) {
	c := newCaller(t, nil)
	c.follows()
	c.says(askExample, executedExample, chunkExample)
	if !c.wake.IsZero() {
		t.Error("the turn is about to end")
	}
	if c.says(completeExample); len(c.story.Turns) != 1 || c.state.Turn != nil {
		t.Errorf("%d turns, %+v", len(c.story.Turns), c.state.Turn)
	}
}

func TestSomebodyElsesTurn(t *testing.T) {
	c := newCaller(t, nil)
	c.follows()
	c.says(chunkExample, completeExample, askExample, executedExample)
	c.waits()
	if len(c.story.Turns) != 2 || c.state.Turn != nil || c.story.Turns[0].Message.By != nil {
		t.Errorf("%d turns, %+v", len(c.story.Turns), c.state.Turn)
	}
}

// MA-21, X-9: what was under way when the connection was lost is marked, what waited goes on, the past is still there.
func TestReconnect(t *testing.T) {
	c := newCaller(t, nil)
	c.follows()
	c.sends("one")
	c.says(completeExample)
	c.sends("two")
	c.says(chunkExample)
	c.asks(protocol.DoSend, "uuid", protocol.SendData{Text: "three"})
	at := protocol.Position{Epoch: c.epoch, Seq: c.state.Seq}
	c.connect()
	c.wants(`{"type":"send_message","conversationId":"uuid","payload":{"content":"three"}}`)
	id := c.asks(protocol.DoSubscribe, "uuid", protocol.SubscribeData{Position: &at})
	r := result[protocol.SubscribeResult](c, id)
	if r.Mode != protocol.ModeReset || r.Reason != protocol.ResetResubscribed || r.Position.Epoch == at.Epoch || r.Snapshot.State.Last.Reason != protocol.ReasonError {
		t.Fatalf("%+v", r)
	}
	if c.state.Turn == nil || c.state.Turn.Message.Text != "three" {
		t.Errorf("%+v", c.state)
	}
	past := result[protocol.HistoryResult](c, c.asks(protocol.DoHistory, "uuid", protocol.HistoryData{}))
	if all := string(protocol.MustEncode(past.Events)); !strings.Contains(all, "full response text") || !strings.Contains(all, "partial text") {
		t.Errorf("%s", all)
	}
}

func TestAKeyIsCarriedOutOnceAlsoOverAReconnect(t *testing.T) {
	c := newCaller(t, nil)
	c.follows()
	c.asksWithKey(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "x"})
	c.connect()
	c.frames = nil
	again := c.asksWithKey(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "x"})
	if r := result[protocol.SendResult](c, again); r == nil || r.Status != protocol.SendStarted || len(c.frames) != 0 {
		t.Errorf("%v, %s", c.answers[again], c.frames)
	}
	if id := c.asksWithKey(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "y"}); c.code(id) != protocol.CodeKeyReused {
		t.Errorf("%v", c.answers[id])
	}
}

func TestWatch(t *testing.T) {
	c := newCaller(t, nil)
	c.asks(protocol.DoWatch, "", nil)
	c.follows()
	told := len(c.told)
	c.asks(protocol.DoWatch, "", nil)
	if len(c.told) != told {
		t.Errorf("what was just listed is told once more: %+v", c.told)
	}
	c.sends("x")
	if len(c.told) == 0 || c.told[len(c.told)-1].Status != protocol.Running {
		t.Errorf("%+v", c.told)
	}
	if r := result[protocol.ListResult](c, c.asks(protocol.DoList, "", nil)); len(r.Sessions) != 1 {
		t.Errorf("%+v", r)
	}
}

// Nothing unknown is dropped.
func TestWhatIsUnknownIsKept(t *testing.T) {
	c := newCaller(t, map[string]string{"thinking": "true"})
	c.follows()
	c.asks(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
	c.wants(`{"type":"send_message","conversationId":"uuid","payload":{"content":"x","enableThinking":true}}`)
	deep := strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000)
	c.says(
		`{"type":"workflow_handoff","conversationId":"uuid","payload":{"fromAgent":"a","toAgent":"b"}}`,
		`{"type":"tomorrow","conversationId":"uuid","payload":{"x":`+deep+`}}`,
		`{"type":"tomorrow","x":"`+strings.Repeat("y", 1<<20)+`"}`,
		`not JSON`,
		`{"type":"agent_selected","conversationId":"uuid","agent_id":"b","agent_name":"Bea"}`,
		`{"type":"workflow_thought","payload":{"agentId":"b","agentName":"Bea","conversationId":"uuid","reason":"because"}}`,
	)
	raws, thought := 0, ""
	for _, e := range c.events {
		switch e.Type {
		case protocol.Raw:
			raws++
		case protocol.ReasoningDelta:
			thought = string(e.Data)
		}
	}
	if raws != 4 || !strings.Contains(thought, "because") || c.state.Agent != "Bea" {
		t.Errorf("%d raw, %s, %q", raws, thought, c.state.Agent)
	}
}

func TestWhatTheDialectCannotSay(t *testing.T) {
	c := newCaller(t, nil)
	c.follows()
	c.sends("x")
	c.says(askExample)
	for _, id := range []string{
		c.asks(protocol.DoCompact, "uuid", nil),
		c.asks(protocol.DoSend, "uuid", protocol.SendData{Text: "x", Parts: []protocol.Part{{Type: "file"}}}),
		c.asks(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.AllowAlways}),
		c.asks(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.Explain}),
	} {
		if a := c.answers[id]; c.code(id) != protocol.CodeUnsupported || !strings.Contains(a.Error.Message, Name) {
			t.Errorf("%s: %+v", id, a)
		}
	}
}

// to deny and stop is to reject the tool and to cancel the stream; the queue is held.
func TestDenyAndStop(t *testing.T) {
	c := newCaller(t, nil)
	c.follows()
	c.sends("x")
	c.says(askExample)
	c.asks(protocol.DoSend, "uuid", protocol.SendData{Text: "later"})
	id := c.asks(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.DenyStop, Reason: "nope"})
	c.wants(`{"type":"approve_tool","conversationId":"uuid","requestId":"uuid","payload":{"approved":false,"reason":"nope"}}`)
	c.says(`{"type":"tool_executed","conversationId":"uuid","payload":{"requestId":"uuid","toolName":"rm","result":null,"success":false,"errorMessage":"nope"}}`)
	if r := result[protocol.ApproveResult](c, id); r == nil || r.Outcome != protocol.Denied || r.Decision != protocol.DenyStop {
		t.Fatalf("%v", c.answers[id])
	}
	c.wants(cancelExample)
	c.says(failure(rejected), failure(cancelled), failure(cancelled))
	if c.state.Turn != nil || c.state.Last.Reason != protocol.ReasonDenied || len(c.frames) > 0 {
		t.Errorf("%+v, said %s", c.state.Last, c.frames)
	}
	if h := c.state.BlockingHold(); h == nil || h.Reason != protocol.HoldDenyStop || len(c.state.Queue) != 1 {
		t.Errorf("%+v", h)
	}
	c.asks(protocol.DoQueueRelease, "uuid", nil)
	c.wants(`{"type":"send_message","conversationId":"uuid","payload":{"content":"later"}}`)
}

// Who looks at a conversation, or decides in it, takes it up first, and is answered when what is pending had time to come.
func TestALookTakesAConversationUp(t *testing.T) {
	c := newCaller(t, nil)
	id := c.asks(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.AllowOnce})
	c.wants(`{"type":"PING","conversationId":"uuid"}`)
	c.says(`{"type":"PONG"}`, `{"type":"tool_approval_required","conversationId":"uuid","payload":{"requestId":"r","toolName":"n","toolArgs":{}}}`)
	c.waits()
	c.wants(`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":true}}`)
	c.waits()
	if r := result[protocol.ApproveResult](c, id); r == nil || r.Outcome != protocol.Allowed {
		t.Errorf("%v", c.answers[id])
	}
	id = c.asks(protocol.DoSnapshot, "nobody", nil)
	c.says(`{"type":"error","conversationId":"nobody","error":"no such conversation","payload":{"code":"not_found","message":"no such conversation"}}`)
	if c.code(id) != protocol.CodeNoSession {
		t.Errorf("%v", c.answers[id])
	}
}
