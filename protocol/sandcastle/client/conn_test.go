package client

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/sandcastletest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

func TestWhatTheDialectCannotSayIsUnsupported(t *testing.T) {
	d := newClientTest(t, &codec.ClientState{})
	a := d.Command(protocol.DoHello, "", protocol.HelloData{Version: protocol.Version, Name: "ada"})
	h := sandcastletest.DecodeResult[protocol.HelloResult](*a)
	can := map[protocol.Verb]bool{}
	for _, v := range h.Commands {
		can[v] = true
	}
	if d.Command(protocol.DoPing, "", nil).Error != nil {
		t.Error("no answer to ping")
	}
	for _, c := range protocol.Commands {
		if can[c.Verb] || c.Verb == protocol.DoAck {
			continue
		}
		a := d.Command(c.Verb, "", nil)
		if a == nil || a.Error == nil || a.Error.Code != protocol.CodeUnsupported ||
			!strings.Contains(a.Error.Message, wire.Name) {
			t.Errorf("%s: %+v", c.Verb, a)
		}
	}
}

// SC-1, SC-10, SC-46, SC-45, SC-26: the request in the real server's form, and an Ack for each
// chunk.
func TestSubscribeAsksAndAcknowledges(t *testing.T) {
	d := newClientTest(t, &codec.ClientState{})
	d.Command(protocol.DoSubscribe, "", nil)
	sandcastletest.WantLines(t, d.Sent, `{"_tag":"Request","id":"0","tag":"chat.subscribe","payload":{"_tag":"chat.subscribe","sessionId":"abc"},"headers":[]}`)
	d.ReceiveChunk(0, `{"_tag":"InitialState","snapshot":{"status":"streaming","activeTurnId":"t1","queue":[{"id":"q1","content":"later","queuedAt":"2026-03-01T11:59:30.000Z"}],"historyCursor":{"lastMessageId":null,"lastMessageAt":null}},`+
		`"buffer":[{"type":"start","messageId":"a1"},{"type":"text-start","id":"p"},{"type":"text-delta","id":"p","delta":"Hi"}],`+
		`"turnContext":{"turnId":"t1","messageId":"m1","content":"Hello","clientMessageId":"c1","startedAt":"2026-03-01T11:59:00.000Z"},"pendingApprovals":[{"toolCallId":"x","toolName":"Bash"}]}`)
	sandcastletest.WantLines(t, d.Sent, `{"_tag":"Ack","requestId":"0"}`)
	if got := d.NativeTypes(); got != "answer session.created message.user turn.started text.start text.delta approval.requested caught_up" {
		t.Errorf("got %s", got)
	}
	if s := d.State; s.Turn.Message.Text != "Hello" || s.Turn.Started.Minute() != 59 || s.Queue[0].Text != "later" ||
		s.Approvals[0].Request != "x" {
		t.Errorf("%+v", s)
	}
	d.Command(protocol.DoUnsubscribe, "", nil)
	sandcastletest.WantLines(t, d.Sent, `{"_tag":"Interrupt","requestId":"0"}`)
	d.ReceiveChunk(0, sandcastletest.StreamEventJSON("t1", `{"type":"text-delta","id":"p","delta":"late"}`))
	if len(d.Lines)+len(d.Sent) != 0 {
		t.Errorf("%s %s", d.Lines, d.Sent)
	}
}

// A SessionStarted of the turn that the state has already does not end it.
func TestATurnOfTheStateStartsOnce(t *testing.T) {
	d := newClientTest(t, &codec.ClientState{})
	d.Command(protocol.DoSubscribe, "", nil)
	d.ReceiveChunk(0, `{"_tag":"InitialState","snapshot":{"status":"streaming","activeTurnId":"t1","queue":[],"historyCursor":{"lastMessageId":null,"lastMessageAt":null}},`+
		`"buffer":[],"turnContext":{"turnId":"t1","messageId":"m1","content":"Hello","startedAt":"2026-03-01T11:59:00.000Z"}}`)
	d.NativeTypes()
	d.ReceiveChunk(0, `{"_tag":"SessionStarted","turnId":"t1","messageId":"m1","startedAt":"2026-03-01T11:59:00.000Z"}`)
	if got := d.NativeTypes(); got != "" || d.State.Turn.Message.Text != "Hello" {
		t.Errorf("recorded %q in the turn %+v", got, d.State.Turn)
	}
}

// SC-6, X-20: a server of the document gets its tags, on the next connection too.
func TestAServerOfTheDocumentGetsItsTags(t *testing.T) {
	for _, no := range []string{
		`{"_tag":"Defect","defect":"Unknown request tag: chat.subscribe"}`,
		`{"_tag":"Exit","requestId":"0","exit":{"_tag":"Failure","cause":{"_tag":"Die","defect":"Unknown request tag: chat.subscribe"}}}`,
	} {
		memory := &codec.ClientState{}
		d := newClientTest(t, memory)
		d.Command(protocol.DoSubscribe, "", nil)
		d.Command(protocol.DoInterrupt, "", nil)
		sandcastletest.WantLines(t, d.Sent) // until the tag set is known
		d.Receive(no)
		sandcastletest.WantLines(t, d.Sent,
			`{"_tag":"Request","id":"1","tag":"SubscribeSession","payload":{"_tag":"SubscribeSession","sessionId":"abc"},"headers":[]}`,
			`{"_tag":"Request","id":"2","tag":"Interrupt","payload":{"_tag":"Interrupt","sessionId":"abc"},"headers":[]}`)
		d.ReceiveChunk(1, strings.ReplaceAll(sandcastletest.Idle, `"lastMessageId":null`, `"lastMessageId":"a1"`))
		// its history is at the endpoint
		sandcastletest.WantLines(t, codecOf(d).Paths(), "/api/sessions/abc/messages")
		d.Deliver(codecOf(d).PathRead(d.Now, "/api/sessions/abc/messages",
			[]byte(`[{"id":"m1","role":"user","parts":[{"type":"text","text":"Hello"}]},{"id":"a1","role":"assistant","parts":[{"type":"text","text":"Hi"}]}]`)))
		if d.NativeTypes() != "answer caught_up" || d.State.Turns != 1 {
			t.Errorf("subscribed: %s", d.Lines)
		}
		sandcastletest.WantLines(t, d.Sent, `{"_tag":"Ack","requestId":"1"}`)
		d = newClientTest(t, memory)
		d.Command(protocol.DoSubscribe, "", nil)
		if !strings.Contains(d.Sent[0], "SubscribeSession") {
			t.Errorf("the next connection sends %s", d.Sent)
		}
	}
}

// SC-11 to SC-14, SC-18 to SC-21, SC-36, SC-38: one chunk can hold the end of a turn and the start
// of the next.
func TestTurnsAreRecorded(t *testing.T) {
	d := newClientTest(t, &codec.ClientState{})
	d.Subscribe()
	d.ReceiveChunk(0, sandcastletest.TurnOne, sandcastletest.StreamEventJSON("t1", `{"type":"start","messageId":"a1","claudeSessionId":"x"}`),
		sandcastletest.StreamEventJSON("t1", `{"type":"text-start","id":"p"}`),
		sandcastletest.StreamEventJSON("t1", `{"type":"text-delta","id":"p","delta":"Hi"}`),
		sandcastletest.StreamEventJSON("t1", `{"type":"text-end","id":"p"}`),
		`{"_tag":"MessageQueued","message":{"id":"m2","content":"next","queuedAt":"2026-03-01T11:59:30.000Z","clientMessageId":"temp_2"}}`)
	d.ReceiveChunk(0, sandcastletest.StreamEventJSON("t1",
		`{"type":"finish","finishReason":"stop","metadata":{"claudeSessionId":"x","costUsd":0.5,"inputTokens":10,"outputTokens":2,"cacheReadInputTokens":1,"cacheCreationInputTokens":0,"contextWindow":200000}}`),
		`{"_tag":"SessionStopped","turnId":"t1","reason":"completed"}`, `{"_tag":"MessageDequeued","messageId":"m2"}`,
		`{"_tag":"UserMessage","message":{"id":"m2","content":"next","clientMessageId":"temp_2"}}`,
		`{"_tag":"SessionStarted","turnId":"t2","messageId":"m2","startedAt":"2026-03-01T11:59:40.000Z"}`, sandcastletest.StreamEventJSON("t2", `{"type":"start"}`))
	if got := d.NativeTypes(); got != "turn.ended queue.removed message.user turn.started" {
		t.Errorf("got %s", got)
	}
	if !strings.Contains(d.Lines[0], `"usage":{"input":10,"output":2,"cached":1,"cost":0.5,"currency":"USD"}`) ||
		!strings.Contains(d.Lines[1], `"reason":"started"`) {
		t.Errorf("%s", d.Lines)
	}
	if m := d.State.Turn.Message; m.MessageID != "m2" || m.ClientMessageID != "temp_2" || m.Text != "next" ||
		len(m.Parts) != 0 {
		t.Errorf("%+v", m)
	}
	d.ReceiveChunk(0, sandcastletest.StreamEventJSON("t2", `{"type":"error","errorText":"overloaded"}`),
		`{"_tag":"SessionStopped","turnId":"t2","reason":"error"}`)
	if l := d.State.Last; l.Reason != protocol.ReasonError || l.Message != "overloaded" {
		t.Errorf("%+v", l)
	}
}

// CARD-4, invariant 12: unknown events are recorded raw.
func TestWhatIsUnknownIsKept(t *testing.T) {
	d := newClientTest(t, &codec.ClientState{})
	d.Subscribe()
	d.ReceiveChunk(0, sandcastletest.TurnOne, sandcastletest.StreamEventJSON("t1", `{"type":"file","url":"data:x","mediaType":"a/b"}`),
		sandcastletest.StreamEventJSON("t1", `{"type":"text-delta","id":7}`), sandcastletest.StreamEventJSON("t9", `{"type":"text-end","id":"p"}`),
		`{"_tag":"SomethingNew","x":1}`, `7`, `{"_tag":"SessionStopped","turnId":"t9","reason":"completed"}`,
		sandcastletest.StreamEventJSON("t1", `{"type":"data-agentctl","data":{"type":"turn.ended"}}`))
	if got := d.NativeTypes(); got != "message.user turn.started raw raw raw raw raw raw raw" {
		t.Errorf("got %s", got)
	}
	if !strings.Contains(d.Lines[2],
		`"data":{"source":"sandcastle","method":"file","data":{"type":"file","url":"data:x","mediaType":"a/b"}}`) {
		t.Errorf("%s", d.Lines[2])
	}
}

func TestWhatNestsTooDeepIsKeptAsAString(t *testing.T) {
	d := newClientTest(t, &codec.ClientState{})
	d.Subscribe()
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	d.ReceiveChunk(0, sandcastletest.TurnOne,
		sandcastletest.StreamEventJSON("t1",
			`{"type":"tool-input-available","toolCallId":"x","toolName":"y","input":`+deep+`}`),
		sandcastletest.StreamEventJSON("t1", `{"type":"text-delta","id":"p","delta":"on"}`))
	if got := d.NativeTypes(); got != "message.user turn.started raw text.delta" ||
		!strings.Contains(d.Lines[2], `"data":"{\"_tag\"`) {
		t.Errorf("got %s", got)
	}
	sandcastletest.WantLines(t, d.Sent, `{"_tag":"Ack","requestId":"0"}`)
}

// SC-2, SC-36.
func TestSend(t *testing.T) {
	d := newClientTest(t, &codec.ClientState{})
	d.Subscribe()
	d.Command(protocol.DoSend, "key-1", protocol.SendData{Text: "Hello"})
	sandcastletest.WantLines(t, d.Sent, `{"_tag":"Request","id":"1","tag":"chat.send","payload":{"_tag":"chat.send","sessionId":"abc","content":"Hello","parts":[{"type":"text","text":"Hello"}],"clientMessageId":"key-1"},"headers":[]}`)
	d.Receive(`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":{"status":"started","messageId":"m1"}}}`)
	if got := string(sandcastletest.DecodeResult[json.RawMessage](*d.Answer("2"))); got != `{"status":"started","message_id":"m1"}` {
		t.Errorf("got %s", got)
	}
	d.ReceiveChunk(0, strings.ReplaceAll(sandcastletest.TurnOne, "temp_1", "key-1"))
	again := d.Command(protocol.DoSend, "key-1", protocol.SendData{Text: "Hello"})
	if len(d.Sent) != 0 || !strings.Contains(string(again.Result), `"message_id":"m1","turn":"t1"`) {
		t.Errorf("sent again: %s %s", d.Sent, again.Result)
	}
	d.Command(protocol.DoSend, "key-2", protocol.SendData{Text: "more"})
	d.Receive(`{"_tag":"Exit","requestId":"2","exit":{"_tag":"Success","value":{"status":"queued","queuedMessage":{"id":"m2","content":"more","queuedAt":"2026-03-01T12:00:00.000Z"}}}}`)
	if got := string(d.Answer("4").Result); got != `{"status":"queued","message_id":"m2","index":0}` {
		t.Errorf("got %s", got)
	}
	if a := d.Command(protocol.DoSend, "",
		protocol.SendData{Text: "x", Front: true}); a.Error.Code != protocol.CodeUnsupported {
		t.Errorf("%+v", a)
	}
}

// SC-36, SC-39: an unanswered message is looked up on the next connection, and sent again only if
// it is missing.
func TestAMessageIsSentOnceOverConnections(t *testing.T) {
	for arrived, want := range map[string]string{"key-1": "", "another": `"tag":"chat.send"`} {
		memory := &codec.ClientState{Value: &capabilities{tags: wire.ChatTags, tagsKnown: true}}
		d := newClientTest(t, memory)
		d.Subscribe()
		d.Command(protocol.DoSend, "key-1", protocol.SendData{Text: "Hello"})
		if len(d.Sent) != 1 {
			t.Fatalf("%s", d.Sent)
		}
		d = newClientTest(t, memory)
		d.Command(protocol.DoSend, "key-1", protocol.SendData{Text: "Hello"})
		d.ReceiveChunk(0, strings.ReplaceAll(sandcastletest.Idle, `"lastMessageId":null`, `"lastMessageId":"a1"`))
		d.Receive(`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":[{"id":"m1","role":"user","parts":[{"type":"text","text":"Hello"}],"clientMessageId":"` + arrived + `"},` +
			`{"id":"a1","role":"assistant","parts":[]}]}}`)
		sent := strings.Join(d.Sent, "")
		a := d.Answer("1")
		if want == "" && (strings.Contains(sent, "chat.send") || a == nil ||
			!strings.Contains(string(a.Result), `"message_id":"m1","turn":"a1"`)) ||
			want != "" && (!strings.Contains(sent, want) || a != nil) {
			t.Errorf("arrived %s: sent %s, answered %+v", arrived, sent, a)
		}
	}
}

// SC-47: causes can be nested.
func TestErrorsAreReadInEveryForm(t *testing.T) {
	for cause, want := range map[string]protocol.Code{
		`{"_tag":"Fail","error":"SESSION_NOT_FOUND"}`:                                                protocol.CodeNoSession,
		`{"_tag":"Fail","error":{"sessionId":"abc","_tag":"ChatSessionNotFoundRpcError"}}`:           protocol.CodeNoSession,
		`{"_tag":"Fail","error":{"message":"no","code":"FORBIDDEN","_tag":"ChatOperationRpcError"}}`: protocol.CodeForbidden,
		`{"_tag":"Fail","error":{"message":"no","_tag":"ChatOperationRpcError"}}`:                    protocol.CodeInternal,
		`{"_tag":"Die","defect":"boom"}`:                                                             protocol.CodeInternal,
		`{"_tag":"Interrupt","fiberId":{"_tag":"None"}}`:                                             protocol.CodeInternal,
		`{"_tag":"Empty"}`: protocol.CodeInternal,
		`{"_tag":"Sequential","left":{"_tag":"Empty"},"right":{"_tag":"Parallel","left":{"_tag":"Die","defect":1},"right":{"_tag":"Fail","error":"SESSION_NOT_FOUND"}}}`: protocol.CodeNoSession,
	} {
		d := newClientTest(t, &codec.ClientState{})
		d.Command(protocol.DoSubscribe, "", nil)
		d.Receive(`{"_tag":"Exit","requestId":"0","exit":{"_tag":"Failure","cause":` + cause + `}}`)
		if a := d.Answer("1"); a == nil || a.Error == nil || a.Error.Code != want {
			t.Errorf("%s: %+v", cause, a)
		}
	}
}

// X-21, SC-34: an interrupt is answered when the end is visible, in either order.
func TestInterruptIsAnsweredWhenTheEndIsVisible(t *testing.T) {
	stop, yes := `{"_tag":"SessionStopped","turnId":"t1","reason":"interrupted"}`, `{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":{"interrupted":true}}}`
	for _, stopFirst := range []bool{true, false} {
		d := newClientTest(t, &codec.ClientState{})
		d.Subscribe()
		d.ReceiveChunk(0, sandcastletest.TurnOne)
		d.Command(protocol.DoInterrupt, "", protocol.InterruptData{Turn: "t1"})
		if stopFirst {
			d.ReceiveChunk(0, stop)
			d.Receive(yes)
		} else {
			d.Receive(yes)
			if len(d.Lines) != 0 {
				t.Errorf("answered before the end: %s", d.Lines)
			}
			d.ReceiveChunk(0, stop)
		}
		if a := d.Answer("2"); a == nil || string(a.Result) != `{"interrupted":true,"turn":"t1"}` {
			t.Errorf("%s", d.Lines)
		}
		if a := d.Command(protocol.DoInterrupt, "",
			protocol.InterruptData{Turn: "t1"}); string(a.Result) != `{"interrupted":false,"turn":"t1"}` {
			t.Errorf("%s", a.Result)
		}
	}
}

// SC-49.
func TestApprovalsOfTheRealServer(t *testing.T) {
	d := newClientTest(t, &codec.ClientState{})
	d.Subscribe()
	d.ReceiveChunk(0, sandcastletest.TurnOne, sandcastletest.StreamEventJSON("t1", `{"type":"tool-input-start","toolCallId":"x","toolName":"Bash"}`),
		sandcastletest.StreamEventJSON("t1",
			`{"type":"tool-input-available","toolCallId":"x","toolName":"Bash","input":{"command":"rm -rf build"}}`),
		sandcastletest.StreamEventJSON("t1", `{"type":"tool-approval-request","toolCallId":"x","toolName":"Bash"}`),
		sandcastletest.StreamEventJSON("t1",
			`{"type":"tool-input-available","toolCallId":"y","toolName":"AskUserQuestion","input":{"questions":[{"question":"Which branch?","header":"Branch","options":[{"label":"main","description":"the main one"}],"multiSelect":false}]}}`),
		sandcastletest.StreamEventJSON("t1", `{"type":"tool-approval-request","toolCallId":"y","toolName":"AskUserQuestion"}`))
	if a := d.State.Approvals; len(a) != 2 || a[0].Kind != protocol.ApproveCommand || a[0].Command != "rm -rf build" ||
		a[1].Kind != protocol.ApproveQuestion || a[1].Questions[0].Choices[0].ID != "main" {
		t.Fatalf("%+v", a)
	}
	if a := d.Command(protocol.DoApprove, "", protocol.ApproveData{
		Request: "x", Decision: protocol.AllowAlways,
	}); a.Error.Code != protocol.CodeUnsupported {
		t.Errorf("%+v", a.Error)
	}
	d.Command(protocol.DoApprove, "", protocol.ApproveData{Request: "x", Decision: protocol.AllowOnce})
	sandcastletest.WantLines(t, d.Sent, `{"_tag":"Request","id":"1","tag":"chat.respondToToolApproval","payload":{"_tag":"chat.respondToToolApproval","sessionId":"abc","response":{"type":"tool-approval-response","toolCallId":"x","toolName":"Bash","approved":true}},"headers":[]}`)
	d.Receive(`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":{"acknowledged":true}}}`)
	if got := d.NativeTypes(); got != "approval.resolved answer" {
		t.Errorf("got %s", got)
	}
	if a := d.Command(protocol.DoApprove, "", protocol.ApproveData{
		Request: "x", Decision: protocol.Deny,
	}); a.Error.Code != protocol.CodeConflict || a.Error.Winner.By.Name != "ada" {
		t.Errorf("%+v", a.Error)
	}
	d.Command(protocol.DoApprove, "", protocol.ApproveData{
		Decision: protocol.AllowOnce,
		Input:    &protocol.ApprovalInput{Answers: map[string][]string{"Which branch?": {"main"}}},
	})
	if !strings.Contains(d.Sent[0], `"payload":{"type":"AskUserQuestionPayload","answers":{"Which branch?":"main"}}`) {
		t.Errorf("%s", d.Sent)
	}
	d.ReceiveChunk(0, sandcastletest.StreamEventJSON("t1",
		`{"type":"tool-output-available","toolCallId":"y","output":{"answers":{}}}`))
	if got := d.NativeTypes(); got != "approval.resolved tool.ended" {
		t.Errorf("another client decided: %s", got)
	}
	d.Receive(`{"_tag":"Exit","requestId":"2","exit":{"_tag":"Failure","cause":{"_tag":"Fail","error":{"toolCallId":"y","_tag":"ToolApprovalNotFoundRpcError"}}}}`)
	if a := d.Answer("5"); a.Error.Code != protocol.CodeConflict {
		t.Errorf("%+v", a.Error)
	}
	d.ReceiveChunk(0, sandcastletest.StreamEventJSON("t1",
		`{"type":"tool-approval-request","toolCallId":"z","toolName":"ExitPlanMode"}`),
		`{"_tag":"SessionStopped","turnId":"t1","reason":"interrupted"}`)
	if len(d.State.Approvals) != 0 {
		t.Error("an approval is pending after its turn")
	}
}

// SC-42.
func TestAServerThatAnswersNoPingIsLeft(t *testing.T) {
	d := newClientTest(t, &codec.ClientState{})
	if !d.Wake.Equal(sandcastletest.Noon.Add(10 * time.Second)) {
		t.Fatalf("wake at %v", d.Wake)
	}
	tick := func() { d.Now = d.Wake; d.Deliver(d.Codec.Wake(d.Now)) }
	tick()
	sandcastletest.WantLines(t, d.Sent, `{"_tag":"Ping"}`)
	d.Receive(`{"_tag":"Pong"}`)
	tick()
	sandcastletest.WantLines(t, d.Sent, `{"_tag":"Ping"}`)
	tick()
	if d.Closed == nil || d.Closed.Code == protocol.ClosePolicy {
		t.Errorf("%+v", d.Closed)
	}
}

// Requests to a server of another protocol fail immediately.
func TestAServerOfAnotherProtocolIsKnown(t *testing.T) {
	for _, greeting := range []string{
		`{"event":"system.connected","seq":1}`, `{"id":"1","type":"error","payload":{}}`, "hello",
	} {
		for _, early := range []bool{true, false} {
			d := newClientTest(t, &codec.ClientState{})
			if early {
				d.Receive(greeting)
			}
			a := d.Command(protocol.DoSnapshot, "", nil)
			if !early {
				d.Receive(greeting)
				a = d.Answer("1")
			}
			if a == nil || a.Error == nil || a.Error.Code != protocol.CodeUnsupported ||
				!strings.Contains(a.Error.Message, wire.Name) {
				t.Errorf("%s: %+v", greeting, a)
			}
		}
	}
	d := newClientTest(t, &codec.ClientState{})
	d.Receive(`{"_tag":"Pong"}`)
	d.Command(protocol.DoSnapshot, "", nil)
	if d.Receive(`{"event":"x"}`); d.Answer("1") != nil {
		t.Error("one malformed message failed the request")
	}
}

// SC-28, SC-29: finished turns are fetched before the first state is recorded, without a gap. The
// stream waits.
func TestFinishedTurnsAreAskedFor(t *testing.T) {
	d := newClientTest(t, &codec.ClientState{})
	d.Command(protocol.DoSubscribe, "", nil)
	d.ReceiveChunk(0, strings.ReplaceAll(sandcastletest.Idle, `"lastMessageId":null,"lastMessageAt":null`,
		`"lastMessageId":"a1","lastMessageAt":"2026-03-01T11:00:00.000Z"`),
		`{"_tag":"UserMessage","message":{"id":"m2","content":"next","clientMessageId":"c"}}`, `{"_tag":"SessionStarted","turnId":"t2","messageId":"m2"}`)
	sandcastletest.WantLines(t, d.Sent, `{"_tag":"Request","id":"1","tag":"chat.getHistory","payload":{"_tag":"chat.getHistory","sessionId":"abc"},"headers":[]}`)
	d.Receive(`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":[` +
		`{"id":"m1","role":"user","parts":[{"type":"text","text":"Hello"}],"createdAt":"2026-03-01T10:59:00.000Z"},` +
		`{"id":"a1","role":"assistant","parts":[{"type":"step-start"},{"type":"text","text":"Hi","state":"done"},{"type":"tool-Bash","toolCallId":"x","state":"output-available","input":{"command":"ls"},"output":"ok"}],"createdAt":"2026-03-01T11:00:00.000Z"},` +
		`{"id":"m2","role":"user","parts":[{"type":"text","text":"next"}]}]}}`)
	sandcastletest.WantLines(t, d.Sent, `{"_tag":"Ack","requestId":"0"}`)
	if got := d.NativeTypes(); got != "answer caught_up message.user turn.started" {
		t.Errorf("got %s", got)
	}
	if d.State.Turns != 1 || d.State.History.LastMessageID != "a1" || d.State.Turn.Turn != "t2" {
		t.Errorf("%+v", d.State)
	}
	h := sandcastletest.DecodeResult[protocol.HistoryResult](*d.Command(protocol.DoHistory, "", protocol.HistoryData{}))
	var tr protocol.Transcript
	for _, line := range h.Events {
		var e protocol.Event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		if _, err := tr.Apply(&e); err != nil {
			t.Fatal(err)
		}
	}
	if len(tr.Turns) != 1 || tr.Turns[0].Message.Text != "Hello" || tr.Turns[0].Items[1].Text.String() != "Hi" ||
		tr.Turns[0].Items[2].Text.String() != "ok" {
		t.Errorf("%s", protocol.MustEncode(tr))
	}
}

// a server without history answers the request with a defect, once.
func TestAServerWithoutHistoryIsAskedOnce(t *testing.T) {
	memory := &codec.ClientState{}
	past := strings.ReplaceAll(sandcastletest.Idle, `"lastMessageId":null`, `"lastMessageId":"a1"`)
	d := newClientTest(t, memory)
	d.Command(protocol.DoSubscribe, "", nil)
	d.ReceiveChunk(0, past)
	d.Receive(`{"_tag":"Defect","defect":"Unknown request tag: chat.getHistory"}`)
	if d.NativeTypes() != "answer session.created caught_up" || len(d.Sent) != 2 ||
		!strings.Contains(d.Sent[1], `"id":"2","tag":"chat.subscribe"`) {
		t.Errorf("%s %s", d.Lines, d.Sent)
	}
	// the server keeps streaming otherwise
	sandcastletest.WantLines(t, d.Sent[:1], `{"_tag":"Interrupt","requestId":"0"}`)
	d = newClientTest(t, memory)
	d.Command(protocol.DoSubscribe, "", nil)
	d.ReceiveChunk(0, past)
	sandcastletest.WantLines(t, d.Sent, `{"_tag":"Ack","requestId":"0"}`)
}

// SC-26, SC-25, SC-29: a broken stream is reopened, and known events are not repeated. If turns
// ended in between, the connection is replaced to load them, unless the server has no history.
func TestAStreamThatBreaksOffGoesOn(t *testing.T) {
	for _, history := range []bool{true, false} {
		testBrokenStream(t, history)
	}
}

func testBrokenStream(t *testing.T, history bool) {
	t.Helper()
	d := newClientTest(t, &codec.ClientState{
		Value: &capabilities{tags: wire.ChatTags, tagsKnown: true, noHistory: !history},
	})
	d.Subscribe()
	one, two := `{"type":"text-delta","id":"p","delta":"one "}`, `{"type":"text-delta","id":"p","delta":"two"}`
	d.ReceiveChunk(0, sandcastletest.TurnOne, sandcastletest.StreamEventJSON("t1", one))
	d.Receive(`{"_tag":"Defect","defect":"boom"}`)
	if wait := d.Wake.Sub(d.Now); wait != minReopenDelay {
		t.Errorf("reopened after %s", wait)
	}
	d.Now = d.Wake
	d.Deliver(d.Codec.Wake(d.Now))
	if len(d.Sent) != 1 || !strings.Contains(d.Sent[0], `"id":"1","tag":"chat.subscribe"`) {
		t.Fatalf("%s", d.Sent)
	}
	active := strings.ReplaceAll(strings.ReplaceAll(sandcastletest.Idle, `"activeTurnId":null`, `"activeTurnId":"t1"`), `"queue":[]`,
		`"queue":[{"id":"q","content":"x","queuedAt":"2026-03-01T11:59:30.000Z"}]`)
	d.ReceiveChunk(1, strings.ReplaceAll(active, `"buffer":[]`, `"buffer":[`+one+`,`+two+`]`))
	if got := d.NativeTypes(); got != "queue.added text.delta" || !strings.Contains(d.Lines[1], "two") {
		t.Errorf("%s", d.Lines)
	}
	d.Receive(`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success"}}`)
	d.Now = d.Wake
	d.Receive(`{"_tag":"Pong"}`)
	d.Deliver(d.Codec.Wake(d.Now))
	d.ReceiveChunk(2, sandcastletest.Idle)
	want := "queue.removed turn.ended"
	if history {
		want = ""
	}
	if got := d.NativeTypes(); got != want || (d.Closed != nil) != history {
		t.Errorf("missed end of a turn: %s, %+v", got, d.Closed)
	}
}

// SC-28: history is a list, or an object with one. A malformed message hides no other, and an HTML
// page is not a history.
func TestHistoryIsReadAsFarAsItCanBe(t *testing.T) {
	for raw, want := range map[string]int{
		`[]`: 0,
		`[{"id":"a","role":"user","parts":[]},7,{"id":8},{"id":"b","role":"assistant","parts":[7,{"type":"text","text":9}]}]`: 2,
		`{"messages":[{"id":"a","role":"user","parts":[]}]}`:                                                                  1, `<html>`: -1, `null`: -1, `{}`: -1, ``: -1,
	} {
		messages, ok := wire.DecodeHistory(json.RawMessage(raw))
		if ok != (want >= 0) || len(messages) != max(0, want) {
			t.Errorf("%s: %d, %v", raw, len(messages), ok)
		}
	}
}

// SC-29: turns that started and ended while the stream was broken are missed too.
func TestTurnsThatAStreamMissedAreLearned(t *testing.T) {
	for last, missed := range map[string]bool{`null`: true, `"a1"`: false, `"a2"`: true} {
		d := newClientTest(t, &codec.ClientState{Value: &capabilities{tags: wire.ChatTags, tagsKnown: true}})
		d.Subscribe()
		d.ReceiveChunk(0, sandcastletest.TurnOne, sandcastletest.StreamEventJSON("t1", `{"type":"start","messageId":"a1"}`),
			`{"_tag":"SessionStopped","turnId":"t1","reason":"completed"}`)
		d.Receive(`{"_tag":"Defect","defect":"boom"}`)
		d.Now = d.Wake
		d.Deliver(d.Codec.Wake(d.Now))
		d.ReceiveChunk(1, strings.ReplaceAll(sandcastletest.Idle, `"lastMessageId":null`, `"lastMessageId":`+last))
		if (d.Closed != nil) != missed {
			t.Errorf("last %s: %+v, %s", last, d.Closed, d.Lines)
		}
	}
}

// SC-26: a position of another connection gets a reset and the current state.
func TestAPositionOfAnotherConnectionIsReset(t *testing.T) {
	d := newClientTest(t, &codec.ClientState{})
	d.Command(protocol.DoSubscribe, "", protocol.SubscribeData{Position: &protocol.Position{Epoch: "old1", Seq: 7}})
	d.ReceiveChunk(0, sandcastletest.Idle)
	if r := sandcastletest.DecodeResult[protocol.SubscribeResult](*d.Answer("1")); r.Mode != protocol.ModeReset ||
		r.Reason != protocol.ResetFresh || r.Snapshot == nil {
		t.Errorf("%+v", r)
	}
}

// SC-13.
func TestADeletedSessionIsClosed(t *testing.T) {
	d := newClientTest(t, &codec.ClientState{})
	d.Subscribe()
	d.ReceiveChunk(0, sandcastletest.TurnOne, `{"_tag":"SessionDeleted","sessionId":"abc"}`)
	if got := d.NativeTypes(); got != "message.user turn.started turn.ended session.closed" {
		t.Errorf("got %s", got)
	}
}

// Events of the session outside of turns.
func TestModeAndTitle(t *testing.T) {
	d := newClientTest(t, &codec.ClientState{})
	d.Subscribe()
	d.ReceiveChunk(0, sandcastletest.StreamEventJSON("", `{"type":"session-renamed","sessionId":"abc","title":"New"}`), sandcastletest.TurnOne,
		sandcastletest.StreamEventJSON("t1", `{"type":"mode-change","mode":"plan"}`), sandcastletest.StreamEventJSON("t1",
			`{"type":"mode-change","mode":"plan"}`))
	if got := d.NativeTypes(); got != "session.updated message.user turn.started agent.options" ||
		d.State.Title != "New" {
		t.Errorf("got %s", got)
	}
}
