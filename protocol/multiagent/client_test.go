package multiagent

import (
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

func errorMessage(code string) string {
	return string(errorFrame("uuid", code, "because").encode().Data)
}

// MA-6, MA-7, MA-8, MA-11, MA-13: the client sends the document's examples and accepts its answers.
func TestTheClientsExamplesOfTheDocument(t *testing.T) {
	c := newClientTest(t, nil)
	ping := c.command(protocol.DoPing, "", nil)
	c.wantSent(`{ "type": "PING" }`)
	if c.answers[ping] != nil {
		t.Error("ping is answered before the PONG")
	}
	c.receive(`{ "type": "PONG" }`)
	if result[protocol.Empty](c, ping) == nil {
		t.Error("ping has no answer")
	}

	made := c.command(protocol.DoCreate, "", protocol.CreateData{Agent: "software_development", Name: "fix"})
	c.wantSent(`{ "type": "start_conversation", "payload": { "domainId": "software_development" } }`)
	c.receive(`{ "type": "conversation_started", "payload": { "conversationId": "uuid", "domainId": "software_development", "activeAgent": "agent_id" } }`)
	if r := result[protocol.CreateResult](c, made); r == nil || r.Session != "uuid" || r.Name != "fix" {
		t.Fatalf("%v", c.answers[made])
	}
	c.subscribe()
	if c.state.Agent != "agent_id" {
		t.Errorf("agent %q", c.state.Agent)
	}

	sent := c.command(protocol.DoSend, "fix", protocol.SendData{Text: "Hello, help me with..."})
	c.wantSent(`{ "type": "send_message", "conversationId": "uuid", "payload": { "content": "Hello, help me with..." } }`)
	c.receive(chunkExample)
	if r := result[protocol.SendResult](c, sent); r == nil || r.Status != protocol.SendStarted ||
		r.Turn != c.state.Turn.Turn {
		t.Fatalf("%v", c.answers[sent])
	}
	c.receive(askExample)
	a := c.state.PendingApproval("uuid")
	if a == nil || a.Name != "Tool Name" || a.Title != a.Name || a.Why != "Tool description" ||
		string(a.Input) != "{}" || c.state.Status() != protocol.Waiting {
		t.Fatalf("%+v", a)
	}
	ok := c.command(protocol.DoApprove, "uuid", protocol.ApproveData{
		Decision: protocol.AllowOnce, Reason: "optional rejection reason",
	})
	c.wantSent(`{ "type": "approve_tool", "conversationId": "uuid", "requestId": "uuid", "payload": { "approved": true, "reason": "optional rejection reason" } }`)
	c.receive(executedExample)
	if r := result[protocol.ApproveResult](c, ok); r == nil || r.Outcome != protocol.Allowed {
		t.Fatalf("%v", c.answers[ok])
	}
	stop := c.command(protocol.DoInterrupt, "uuid", nil)
	c.wantSent(`{ "type": "cancel_stream", "conversationId": "uuid" }`)
	c.receive(errorMessage(cancelled))
	if r := result[protocol.InterruptResult](c, stop); r == nil || !r.Interrupted ||
		c.state.Last.Reason != protocol.ReasonInterrupted {
		t.Fatalf("%v", c.answers[stop])
	}

	c.send("again")
	c.receive(completeExample)
	last := c.transcript.Current()
	if c.state.Turn != nil || last.End.Reason != protocol.ReasonCompleted || last.End.Usage.Output != 150 ||
		last.End.DurationMS != 2500 {
		t.Errorf("%+v", last.End)
	}
	if c.text() != "partial text"+"full response text" {
		t.Errorf("%q", c.text())
	}
	c.send("again")
	c.receive(errorExample)
	if c.state.Last.Reason != protocol.ReasonError || c.state.Last.Message != "Error message" {
		t.Errorf("%+v", c.state.Last)
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
		o.subscribe()
		o.send("x")
		o.receive(c.frames...)
		if o.text() != c.want || o.state.Turn != nil {
			t.Errorf("%v: %q, want %q", c.frames, o.text(), c.want)
		}
	}
}

// MA-16: an error fails the request that it answers.
func TestErrorsAnswerWhatTheyAreAbout(t *testing.T) {
	for code, want := range map[string]protocol.Code{
		badRequest: protocol.CodeInvalidMessage, forbidden: protocol.CodeForbidden, notFound: protocol.CodeNoSession,
		notConfigured: protocol.CodeNoAgent, streamError: protocol.CodeAgentFailed,
		requestFailed: protocol.CodeAgentFailed,
		"of_tomorrow": protocol.CodeAgentFailed,
	} {
		c := newClientTest(t, nil)
		c.subscribe()
		id := c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
		c.receive(errorMessage(code))
		if c.errorCode(id) != want || c.state.Turn != nil || len(c.transcript.Turns) != 0 {
			t.Errorf("send, %s: %v", code, c.answers[id])
		}
	}
	for code, want := range map[string]protocol.Code{
		forbidden: protocol.CodeForbidden, notFound: protocol.CodeNotFound, executeFailed: protocol.CodeAgentFailed,
		rejectFailed: protocol.CodeAgentFailed,
	} {
		c := newClientTest(t, nil)
		c.subscribe()
		c.send("x")
		c.receive(askExample)
		id := c.command(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.AllowOnce})
		c.receive(errorMessage(code))
		if c.errorCode(id) != want || c.state.PendingApproval("uuid") == nil {
			t.Errorf("approve, %s: %v", code, c.answers[id])
		}
	}
	c := newClientTest(t, nil)
	made := c.command(protocol.DoCreate, "", protocol.CreateData{})
	c.receive(`{"type":"error","error":"no such domain","payload":{"code":"not_found","message":"no such domain"}}`)
	if len(c.codec.Paths()) != 1 || c.answers[made] != nil {
		t.Errorf("create: %v before the domains were read", c.answers[made])
	}
	c.deliver(c.codec.PathRead(c.now, domainsPath, []byte(`[{"id":"writing"},{"id":"cooking"}]`)))
	if c.errorCode(made) != protocol.CodeNoAgent ||
		!strings.HasSuffix(c.answers[made].Error.Message, "want one of cooking, writing") {
		t.Errorf("create: %v", c.answers[made])
	}
	unread := c.command(protocol.DoCreate, "", protocol.CreateData{Agent: "x"})
	c.receive(`{"type":"error","error":"no such domain","payload":{"code":"not_found","message":"no such domain"}}`)
	c.advance()
	if c.errorCode(unread) != protocol.CodeNoAgent {
		t.Errorf("create, domains not read: %v", c.answers[unread])
	}
	late := c.command(protocol.DoCreate, "", protocol.CreateData{})
	c.advance()
	if c.errorCode(late) != protocol.CodeTimeout {
		t.Errorf("create: %v", c.answers[late])
	}
}

// MA-11: the real system sends cancelled twice. The second one must not end the next turn.
func TestCancelledTwice(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	c.send("one")
	queued := c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "two"})
	if r := result[protocol.SendResult](c, queued); r == nil || r.Status != protocol.SendQueued || len(c.frames) != 0 {
		t.Fatalf("%v", c.answers[queued])
	}
	stop := c.command(protocol.DoInterrupt, "uuid", nil)
	c.receive(errorMessage(cancelled), errorMessage(cancelled))
	if r := result[protocol.InterruptResult](c, stop); r == nil || !r.Interrupted {
		t.Fatal("not interrupted")
	}
	if c.state.Turn == nil || c.state.Turn.Message.Text != "two" {
		t.Errorf("the queued message did not start: %+v", c.state.Turn)
	}
	idle := newClientTest(t, nil)
	id := idle.command(protocol.DoInterrupt, "uuid", nil)
	idle.receive(`{"type":"error","conversationId":"uuid","error":"No active stream","payload":{"code":"not_found","message":"No active stream"}}`)
	if r := result[protocol.InterruptResult](idle, id); r == nil || r.Interrupted {
		t.Errorf("%v", idle.answers[id])
	}
}

// the client queues messages, because the real server would cancel its stream.
func TestTheClientKeepsTheQueue(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	c.send("one")
	for _, text := range []string{"two", "three", "four"} {
		c.command(protocol.DoSend, "uuid", protocol.SendData{Text: text})
	}
	id := func(i int) string { return c.state.Queue[i].MessageID }
	c.command(protocol.DoQueueMove, "uuid", protocol.QueueMoveData{MessageID: id(2), Index: 0})
	c.command(protocol.DoQueueEdit, "uuid", protocol.QueueEditData{MessageID: id(0), Text: "FOUR"})
	c.command(protocol.DoQueueRemove, "uuid", protocol.QueueRemoveData{MessageID: id(1)})
	held := c.command(protocol.DoQueueHold, "uuid", protocol.QueueHoldData{})
	c.wantSent()
	c.receive(completeExample)
	c.wantSent()
	if len(c.state.Queue) != 2 || c.state.Status() != protocol.Idle ||
		result[protocol.QueueHoldResult](c, held) == nil {
		t.Fatalf("%+v", c.state)
	}
	c.command(protocol.DoQueueRelease, "uuid", protocol.QueueReleaseData{})
	c.wantSent(`{"type":"send_message","conversationId":"uuid","payload":{"content":"FOUR"}}`)
	c.command(protocol.DoInterrupt, "uuid", protocol.InterruptData{Queue: protocol.QueueClear})
	c.receive(errorMessage(cancelled))
	c.wantSent(`{"type":"cancel_stream","conversationId":"uuid"}`)
	if len(c.state.Queue) != 0 {
		t.Errorf("%+v", c.state.Queue)
	}
}

// MA-14: a rejected tool is denied once, and later decisions get conflict.
func TestRejections(t *testing.T) {
	gone := `{"type":"tool_executed","conversationId":"uuid","payload":{"requestId":"uuid","toolName":"Tool Name","result":null,"success":false,"errorMessage":"nope"}}`
	for _, mine := range []bool{true, false} {
		c := newClientTest(t, nil)
		c.subscribe()
		c.send("x")
		c.receive(askExample)
		id := ""
		if mine {
			id = c.command(protocol.DoApprove, "uuid", protocol.ApproveData{Option: "deny", Reason: "nope"})
			c.receive(gone, errorMessage(rejected))
			if r := result[protocol.ApproveResult](c, id); r == nil || r.Outcome != protocol.Denied {
				t.Fatalf("%v", c.answers[id])
			}
		} else {
			c.receive(gone)
		}
		items := c.transcript.Current().Items
		tool, asked := items[0], items[1]
		if tool.Tool.End.Status != protocol.ToolDenied || asked.Resolved.Outcome != protocol.Denied ||
			asked.Resolved.Reason != "nope" || c.state.Turn == nil {
			t.Errorf("%+v %+v", tool.Tool.End, asked.Resolved)
		}
		late := c.command(protocol.DoApprove, "uuid", protocol.ApproveData{
			Request: "uuid", Decision: protocol.AllowOnce,
		})
		if c.errorCode(late) != protocol.CodeConflict || c.answers[late].Error.Winner == nil {
			t.Errorf("%v", c.answers[late])
		}
	}
}

// A request for another plan is a denial with the reason.
func TestAReplanIsADenialWithReason(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	c.send("x")
	c.receive(askExample)
	id := c.command(protocol.DoApprove, "uuid", protocol.ApproveData{
		Decision: protocol.Deny, Reason: "fewer tasks", Input: &protocol.ApprovalInput{Replan: true},
	})
	c.wantSent(`{"type":"approve_tool","conversationId":"uuid","requestId":"uuid","payload":{"approved":false,"reason":"fewer tasks"}}`)
	c.receive(errorMessage(rejected))
	if r := result[protocol.ApproveResult](c, id); r == nil || r.Outcome != protocol.Denied {
		t.Errorf("%v", c.answers[id])
	}
}

// MA-4: a server accepts a connection before it rejects the credential, so commands wait for its
// first message.
func TestNothingIsAnsweredBeforeTheServerHasAnswered(t *testing.T) {
	for name, sign := range map[string]func(*clientTest){
		"its PONG":      func(c *clientTest) { c.receive(`{"type":"PONG"}`) },
		"anything else": func(c *clientTest) { c.receive(chunkExample) },
		"too much waited": func(c *clientTest) {
			for range maxRequests {
				c.command(protocol.DoList, "", nil)
			}
		},
	} {
		c := newClientTest(t, nil)
		c.codec = newClient(codec.ClientOptions{Name: "ada", ID: c.newID, Resume: c.resume})
		c.deliver(c.codec.Open(c.now))
		c.wantSent(`{"type":"PING"}`)
		id := c.command(protocol.DoHello, "", nil)
		ping := c.command(protocol.DoPing, "", nil)
		if c.answers[id] != nil {
			t.Errorf("%s: answered before the first message", name)
		}
		if sign(c); c.answers[id] == nil || c.answers[ping] != nil {
			t.Errorf("%s: %v %v", name, c.answers[id], c.answers[ping])
		}
		c.wantSent(`{"type":"PING"}`)
		if c.receive(`{"type":"PONG"}`, `{"type":"PONG"}`); c.answers[ping] == nil {
			t.Errorf("%s: no answer to its PONG", name)
		}
	}
}

// A one-shot client has no queue, so a message during a turn fails: the server would cancel its
// stream.
func TestAOneShotClientDoesNotQueue(t *testing.T) {
	c := newClientTest(t, nil)
	c.codec.Options.OneShot = true
	c.send("x")
	id := c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "y"})
	if c.errorCode(id) != protocol.CodeUnsupported || len(c.frames) != 0 {
		t.Errorf("answered %+v, sent %s", c.answers[id], c.frames)
	}
}

// MA-6: a server without an answer to PING does not speak the dialect.
func TestAServerWithoutPongTimesOut(t *testing.T) {
	c := newClientTest(t, nil)
	c.codec = newClient(codec.ClientOptions{Name: "ada", ID: c.newID, Resume: c.resume})
	c.deliver(c.codec.Open(c.now))
	id := c.command(protocol.DoHello, "", nil)
	if c.advance(); c.errorCode(id) != protocol.CodeTimeout ||
		!strings.Contains(c.answers[id].Error.Message, "does not speak multiagent") {
		t.Errorf("answered %+v", c.answers[id])
	}
}

const deniedTool = `{"type":"tool_executed","conversationId":"uuid",
	"payload":{"requestId":"uuid","toolName":"rm","result":null,"success":false,"errorMessage":"nope"}}`

// MA-14: the denial of a tool request is its end at the real system, which sends nothing more. Its
// two messages come in either order, and neither starts a turn.
func TestADeniedToolRequestEnds(t *testing.T) {
	confirmed := errorMessage(rejected)
	for _, frames := range [][]string{{deniedTool, confirmed}, {confirmed, deniedTool}, {deniedTool}, {confirmed}, {}} {
		for _, decision := range []protocol.Decision{"", protocol.Deny, protocol.DenyStop} {
			c := newClientTest(t, nil)
			c.subscribe()
			c.send("/tool rm {}")
			c.receive(askExample)
			later := c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "later"})
			if decision != "" {
				c.command(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: decision})
			} else if len(frames) == 0 || frames[0] != deniedTool {
				continue // another client's rejection
			}
			c.frames = nil
			c.receive(frames...)
			if len(frames) == 0 {
				c.advance() // the decision counts without an answer
			}
			if !slices.Contains(frames, deniedTool) {
				c.advance() // nothing follows
			}
			if len(c.transcript.Turns) == 0 || c.transcript.Turns[0].End == nil ||
				c.transcript.Turns[0].End.Reason != protocol.ReasonDenied {
				t.Fatalf("%q, %s: %+v", frames, decision, c.state.Turn)
			}
			if decision == protocol.DenyStop {
				c.wantSent()
				c.command(protocol.DoQueueRelease, "uuid", nil)
			}
			c.wantSent(`{"type":"send_message","conversationId":"uuid","payload":{"content":"later"}}`)
			if len(c.transcript.Turns) != 2 || c.answers[later] == nil {
				t.Errorf("%q, %s: %d turns", frames, decision, len(c.transcript.Turns))
			}
		}
	}
}

// An agent of agentctl's server goes on after a denial, however long it takes.
func TestAtAgentctlATurnGoesOnAfterADenial(t *testing.T) {
	c := newClientTestAt(t, true, nil)
	c.subscribe()
	c.send("/tool rm {}")
	c.receive(askExample, deniedTool)
	if c.state.Turn == nil || !c.wake.IsZero() {
		t.Errorf("%+v, next wake %v", c.state.Turn, c.wake)
	}
}

// MA-11: a tool request has no stream to cancel. It ends at the client, and the request stays
// pending at the server.
func TestAnInterruptEndsAToolRequest(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	c.send("/tool rm {}")
	c.receive(askExample)
	stop := c.command(protocol.DoInterrupt, "uuid", nil)
	c.receive(errorMessage(notFound))
	if r := result[protocol.InterruptResult](c, stop); r == nil || !r.Interrupted ||
		c.state.Last.Reason != protocol.ReasonInterrupted {
		t.Errorf("%+v, ended %+v", r, c.state.Last)
	}
	if c.receive(deniedTool); c.state.Turn != nil || len(c.transcript.Turns) != 1 {
		t.Errorf("a late denial: %d turns", len(c.transcript.Turns))
	}
}

// The real system confirms a decision only to connections that used the conversation. A decision
// about a request that the client has not received fails with a timeout.
func TestAnUnconfirmedDecisionTimesOut(t *testing.T) {
	for _, agentctl := range []bool{false, true} {
		c := newClientTestAt(t, agentctl, nil)
		c.subscribe()
		id := c.command(protocol.DoApprove, "uuid", protocol.ApproveData{Request: "r", Decision: protocol.AllowOnce})
		if !agentctl {
			c.advance()
		}
		if code := c.errorCode(id); agentctl != (code == "") || !agentctl && code != protocol.CodeTimeout {
			t.Errorf("at agentctl %v: %+v", agentctl, c.answers[id])
		}
		id = c.command(protocol.DoApprove, "uuid", protocol.ApproveData{Request: "s", Decision: protocol.Deny})
		c.receive(errorMessage(rejected))
		if r := result[protocol.ApproveResult](c, id); r == nil || r.Outcome != protocol.Denied {
			t.Errorf("rejected: %+v", c.answers[id])
		}
	}
}

// An error about a decision answers the decision of its kind.
func TestAnErrorAnswersTheDecisionOfItsKind(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	allow := c.command(protocol.DoApprove, "uuid", protocol.ApproveData{Request: "r", Decision: protocol.AllowOnce})
	deny := c.command(protocol.DoApprove, "uuid", protocol.ApproveData{Request: "s", Decision: protocol.Deny})
	c.receive(errorMessage(rejected))
	r := result[protocol.ApproveResult](c, deny)
	if r == nil || r.Outcome != protocol.Denied || c.answers[allow] != nil {
		t.Errorf("allow: %+v, deny: %+v", c.answers[allow], c.answers[deny])
	}
}

// The count of output tokens is all that the real system reports: a count of 0 is unknown.
func TestOnlyReportedUsageIsRecorded(t *testing.T) {
	for count, want := range map[string]*protocol.Usage{"0": nil, "9": {Output: 9}} {
		c := newClientTest(t, nil)
		c.subscribe()
		c.send("x")
		c.receive(strings.Replace(completeExample, "150", count, 1))
		if got := c.transcript.Turns[0].End.Usage; (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s tokens: %+v", count, got)
		}
	}
}

// agentctl's server continues a turn after a tool, even a turn of another client without any text.
func TestAnotherClientsTurnGoesOnAfterATool(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	c.receive(askExample, executedExample, chunkExample)
	if !c.wake.IsZero() {
		t.Error("the end of the turn is scheduled")
	}
	if c.receive(completeExample); len(c.transcript.Turns) != 1 || c.state.Turn != nil {
		t.Errorf("%d turns, %+v", len(c.transcript.Turns), c.state.Turn)
	}
}

func TestAnotherClientsTurn(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	c.receive(chunkExample, completeExample, askExample, executedExample)
	c.advance()
	if len(c.transcript.Turns) != 2 || c.state.Turn != nil || c.transcript.Turns[0].Message.By != nil {
		t.Errorf("%d turns, %+v", len(c.transcript.Turns), c.state.Turn)
	}
}

// MA-21, X-9: after a lost connection the turn ends with an error, the queue continues and the
// history remains.
func TestReconnect(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	c.send("one")
	c.receive(completeExample)
	c.send("two")
	c.receive(chunkExample)
	c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "three"})
	at := protocol.Position{Epoch: c.epoch, Seq: c.state.Seq}
	c.connect()
	c.wantSent(`{"type":"send_message","conversationId":"uuid","payload":{"content":"three"}}`)
	id := c.command(protocol.DoSubscribe, "uuid", protocol.SubscribeData{Position: &at})
	r := result[protocol.SubscribeResult](c, id)
	if r.Mode != protocol.ModeReset || r.Reason != protocol.ResetResubscribed || r.Position.Epoch == at.Epoch ||
		r.Snapshot.State.Last.Reason != protocol.ReasonError {
		t.Fatalf("%+v", r)
	}
	if c.state.Turn == nil || c.state.Turn.Message.Text != "three" {
		t.Errorf("%+v", c.state)
	}
	past := result[protocol.HistoryResult](c, c.command(protocol.DoHistory, "uuid", protocol.HistoryData{}))
	if all := string(protocol.MustEncode(past.Events)); !strings.Contains(all, "full response text") ||
		!strings.Contains(all, "partial text") {
		t.Errorf("%s", all)
	}
}

func TestAKeyIsCarriedOutOnceAlsoOverAReconnect(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	c.commandWithKey(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "x"})
	c.connect()
	c.frames = nil
	again := c.commandWithKey(protocol.DoSend, "uuid", "k", protocol.SendData{Text: "x"})
	if r := result[protocol.SendResult](c, again); r == nil || r.Status != protocol.SendStarted || len(c.frames) != 0 {
		t.Errorf("%v, %s", c.answers[again], c.frames)
	}
	if id := c.commandWithKey(protocol.DoSend, "uuid", "k",
		protocol.SendData{Text: "y"}); c.errorCode(id) != protocol.CodeKeyReused {
		t.Errorf("%v", c.answers[id])
	}
}

func TestWatch(t *testing.T) {
	c := newClientTest(t, nil)
	c.command(protocol.DoWatch, "", nil)
	c.subscribe()
	published := len(c.summaries)
	c.command(protocol.DoWatch, "", nil)
	if len(c.summaries) != published {
		t.Errorf("a listed session is published again: %+v", c.summaries)
	}
	c.send("x")
	if len(c.summaries) == 0 || c.summaries[len(c.summaries)-1].Status != protocol.Running {
		t.Errorf("%+v", c.summaries)
	}
	if r := result[protocol.ListResult](c, c.command(protocol.DoList, "", nil)); len(r.Sessions) != 1 {
		t.Errorf("%+v", r)
	}
}

// Unknown messages are recorded.
func TestWhatIsUnknownIsKept(t *testing.T) {
	c := newClientTest(t, map[string]string{"thinking": "true"})
	c.subscribe()
	c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "x"})
	c.wantSent(`{"type":"send_message","conversationId":"uuid","payload":{"content":"x","enableThinking":true}}`)
	deep := strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000)
	c.receive(
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
	c := newClientTest(t, nil)
	c.subscribe()
	c.send("x")
	c.receive(askExample)
	for _, id := range []string{
		c.command(protocol.DoCompact, "uuid", nil),
		c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "x", Parts: []protocol.Part{{Type: "file"}}}),
		c.command(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.AllowAlways}),
		c.command(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.Explain}),
	} {
		if a := c.answers[id]; c.errorCode(id) != protocol.CodeUnsupported || !strings.Contains(a.Error.Message, Name) {
			t.Errorf("%s: %+v", id, a)
		}
	}
}

// deny and stop rejects the tool, cancels the stream and holds the queue.
func TestDenyAndStop(t *testing.T) {
	c := newClientTest(t, nil)
	c.subscribe()
	c.send("x")
	c.receive(askExample)
	c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "later"})
	id := c.command(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.DenyStop, Reason: "nope"})
	c.wantSent(`{"type":"approve_tool","conversationId":"uuid","requestId":"uuid","payload":{"approved":false,"reason":"nope"}}`)
	c.receive(`{"type":"tool_executed","conversationId":"uuid","payload":{"requestId":"uuid","toolName":"rm","result":null,"success":false,"errorMessage":"nope"}}`)
	if r := result[protocol.ApproveResult](c, id); r == nil || r.Outcome != protocol.Denied ||
		r.Decision != protocol.DenyStop {
		t.Fatalf("%v", c.answers[id])
	}
	c.wantSent(cancelExample)
	c.receive(errorMessage(rejected), errorMessage(cancelled), errorMessage(cancelled))
	if c.state.Turn != nil || c.state.Last.Reason != protocol.ReasonDenied || len(c.frames) > 0 {
		t.Errorf("%+v, sent %s", c.state.Last, c.frames)
	}
	if h := c.state.BlockingHold(); h == nil || h.Reason != protocol.HoldDenyStop || len(c.state.Queue) != 1 {
		t.Errorf("%+v", h)
	}
	c.command(protocol.DoQueueRelease, "uuid", nil)
	c.wantSent(`{"type":"send_message","conversationId":"uuid","payload":{"content":"later"}}`)
}

// A snapshot or decision requests updates first, and is answered once pending approvals had time to
// arrive.
func TestASnapshotRequestsUpdates(t *testing.T) {
	c := newClientTest(t, nil)
	id := c.command(protocol.DoApprove, "uuid", protocol.ApproveData{Decision: protocol.AllowOnce})
	c.wantSent(`{"type":"PING","conversationId":"uuid"}`)
	c.receive(`{"type":"PONG"}`,
		`{"type":"tool_approval_required","conversationId":"uuid","payload":{"requestId":"r","toolName":"n","toolArgs":{}}}`)
	c.advance()
	c.wantSent(`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":true}}`)
	c.advance()
	if r := result[protocol.ApproveResult](c, id); r == nil || r.Outcome != protocol.Allowed {
		t.Errorf("%v", c.answers[id])
	}
	id = c.command(protocol.DoSnapshot, "nobody", nil)
	c.receive(`{"type":"error","conversationId":"nobody","error":"no such conversation","payload":{"code":"not_found","message":"no such conversation"}}`)
	if c.errorCode(id) != protocol.CodeNoSession {
		t.Errorf("%v", c.answers[id])
	}
}
