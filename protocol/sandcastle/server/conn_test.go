package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agentctl/internal/dev/sandcastletest"
	"agentctl/protocol"
	"agentctl/protocol/sandcastle/wire"
)

// SC-1, SC-10, SC-8, SC-7, SC-23.
func TestAnIdleSessionIsSent(t *testing.T) {
	d := newServerTest(t)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(0, "SubscribeSession", `{"_tag":"SubscribeSession","sessionId":"s"}`)),
		`{"_tag":"Chunk","requestId":"0","values":[{"_tag":"InitialState","snapshot":{"status":"idle","activeTurnId":null,"queue":[],"historyCursor":{"lastMessageId":null,"lastMessageAt":null}},"buffer":[]}]}`)
}

// SC-1, SC-6, SC-20 of the conflicts: each tag set has its own errors.
func TestAnUnknownSessionIsAFailureOfItsTagSet(t *testing.T) {
	d := newServerTest(t)
	for _, tag := range []string{"SubscribeSession", "SendMessage", "Interrupt", "DequeueMessage", "GetSessionState"} {
		sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(1, tag, `{"sessionId":"nope","content":"x","messageId":"m"}`)),
			`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Failure","cause":{"_tag":"Fail","error":"SESSION_NOT_FOUND"}}}`)
	}
	for _, tag := range []string{
		"chat.subscribe", "chat.send", "chat.interrupt", "chat.dequeue", "chat.getState", "chat.getHistory",
	} {
		sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(1, tag, `{"sessionId":"nope","content":"x","messageId":"m"}`)),
			`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Failure","cause":{"_tag":"Fail","error":{"sessionId":"nope","_tag":"ChatSessionNotFoundRpcError"}}}}`)
	}
	d.Answers[protocol.DoSend] = protocol.Errorf(protocol.CodeSessionClosed, "the session is closed")
	sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(1, "chat.send", `{"sessionId":"s","content":"x"}`)),
		`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Failure","cause":{"_tag":"Fail","error":{"message":"the session is closed","code":"SESSION_CLOSED","_tag":"ChatOperationRpcError"}}}}`)
	sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(2, "SendMessage", `{"sessionId":"s","content":"x"}`)),
		`{"_tag":"Exit","requestId":"2","exit":{"_tag":"Failure","cause":{"_tag":"Fail","error":"SESSION_CLOSED"}}}`)
}

// SC-2, SC-9, SC-3, SC-4, SC-5.
func TestRequestsAreAnswered(t *testing.T) {
	d := newServerTest(t)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.Answers[protocol.DoSend] = protocol.SendResult{Status: protocol.SendStarted, MessageID: "m1"}
	send := `{"_tag":"SendMessage","sessionId":"s","content":"Hello","parts":[{"type":"text","text":"Hello"},{"type":"file","url":"file:///a","mediaType":"text/plain","x":1}],"clientMessageId":"temp_123"}`
	sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(0, "SendMessage", send)),
		`{"_tag":"Exit","requestId":"0","exit":{"_tag":"Success","value":{"status":"started","messageId":"m1"}}}`)
	if got, want := string(d.Commands[len(d.Commands)-1].Data), `{"text":"Hello","parts":[{"type":"file","url":"file:///a","media_type":"text/plain","data":{"type":"file","url":"file:///a","mediaType":"text/plain","x":1}}],"client_message_id":"temp_123"}`; got != want {
		t.Errorf("the native server got %s", got)
	}
	one := 0
	d.Answers[protocol.DoSend] = protocol.SendResult{Status: protocol.SendQueued, MessageID: "m2", Index: &one}
	sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(1, "SendMessage",
		`{"sessionId":"s","content":"Hi","clientMessageId":"temp_124"}`)),
		`{"_tag":"Exit","requestId":"1","exit":{"_tag":"Success","value":{"status":"queued","queuedMessage":{"id":"m2","content":"Hi","queuedAt":"2026-03-01T12:00:00.000Z","clientMessageId":"temp_124"}}}}`)
	d.Answers[protocol.DoInterrupt] = protocol.InterruptResult{}
	sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(2, "Interrupt", `{"sessionId":"s"}`)),
		`{"_tag":"Exit","requestId":"2","exit":{"_tag":"Success","value":{"interrupted":false}}}`)
	d.Answers[protocol.DoQueueRemove] = protocol.QueueRemoveResult{Removed: true}
	sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(3, "DequeueMessage", `{"sessionId":"s","messageId":"m2"}`)),
		`{"_tag":"Exit","requestId":"3","exit":{"_tag":"Success","value":{"removed":true}}}`)
	sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(4, "GetSessionState", `{"sessionId":"s"}`)),
		`{"_tag":"Exit","requestId":"4","exit":{"_tag":"Success","value":{"status":"idle","activeTurnId":null,"queue":[],"historyCursor":{"lastMessageId":null,"lastMessageAt":null}}}}`)
}

// SC-21, SC-11, SC-12, SC-13, SC-14, SC-24, SC-38, SC-20.
func TestATurnIsSentInOrder(t *testing.T) {
	d := newServerTest(t)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.Request(sandcastletest.RequestFrame(0, "SubscribeSession", `{"sessionId":"s"}`))
	d.StartTurn("t1", "Hello")
	d.AppendText("t1", "p1", "Hi", " there")
	d.Append(protocol.QueueAdded, "", protocol.QueueAddedData{Message: protocol.Message{MessageID: "m2", Text: "next"}})
	d.EndTurn("t1", protocol.ReasonCompleted)
	d.Append(protocol.QueueRemoved, "", protocol.QueueRemovedData{MessageID: "m2", Reason: protocol.RemovedStarted})
	d.StartTurn("t2", "next")
	if sent := d.Emit(); len(sent) != 0 {
		t.Fatalf("a chunk before the Ack of the last: %s", sent)
	}
	got := sandcastletest.SessionEvents(t, d.Request(sandcastletest.AckFrame(0)))
	want := "UserMessage SessionStarted start text-start text-delta text-delta text-end MessageQueued finish SessionStopped MessageDequeued UserMessage SessionStarted start"
	if sandcastletest.EventTags(got) != want {
		t.Errorf("got  %s\nwant %s", sandcastletest.EventTags(got), want)
	}
	if e := got[1]; e.TurnID != "t1" || e.MessageID != "mt1" || e.StartedAt != "2026-03-01T12:00:02.000Z" {
		t.Errorf("SessionStarted: %+v", e)
	}
	if e := got[0]; e.Message.ID != "mt1" || e.Message.ClientMessageID != "ct1" || e.Message.Content != "Hello" {
		t.Errorf("UserMessage: %+v", e.Message)
	}
	if e := got[9]; e.Reason != "completed" || e.TurnID != "t1" {
		t.Errorf("SessionStopped: %+v", e)
	}
}

// SC-25, SC-23, SC-40, SC-27: a client that subscribes during a turn gets all of it once.
func TestMidTurnSubscribersGetTheTurnFromItsStart(t *testing.T) {
	d := newServerTest(t)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.StartTurn("t0", "old")
	d.AppendText("t0", "p1", "gone")
	d.EndTurn("t0", protocol.ReasonCompleted)
	d.StartTurn("t1", "Hello")
	d.Append(protocol.TextStart, "t1", protocol.PartStartData{Part: "p1"})
	d.Append(protocol.TextDelta, "t1", protocol.PartDeltaData{Part: "p1", Text: "a"})
	first := sandcastletest.SessionEvents(t, d.Request(sandcastletest.RequestFrame(0, "SubscribeSession", `{"sessionId":"s"}`)))[0]
	d.Append(protocol.TextDelta, "t1", protocol.PartDeltaData{Part: "p1", Text: "b"})
	d.Emit()
	second := sandcastletest.SessionEvents(t, d.Request(sandcastletest.RequestFrame(1, "chat.subscribe", `{"sessionId":"s"}`)))[0]
	content := func(e wire.SessionEvent) string {
		s := ""
		for _, raw := range e.Buffer {
			var c wire.ChatEvent
			_ = json.Unmarshal(raw, &c)
			s += c.Type + " "
			if c.Delta != nil {
				s += *c.Delta + " "
			}
		}
		return s
	}
	if got := content(first); got != "start text-start text-delta a " {
		t.Errorf("the first stream has %s", got)
	}
	if got := content(second); got != "start text-start text-delta a text-delta b " {
		t.Errorf("the second stream has %s", got)
	}
	if first.TurnContext.Content != "Hello" || *first.Snapshot.HistoryCursor.LastMessageID != "t0" ||
		*first.Snapshot.ActiveTurnID != "t1" {
		t.Errorf("%+v", first)
	}
	if got := sandcastletest.EventTags(sandcastletest.SessionEvents(t, d.Request(sandcastletest.AckFrame(0)))); got != "text-delta" {
		t.Errorf("after the Ack the first gets %q", got)
	}
	subscribes := 0
	for _, c := range d.Commands {
		if c.Command == protocol.DoSubscribe {
			subscribes++
		}
	}
	if subscribes != 1 {
		t.Errorf("%d native subscriptions", subscribes)
	}
}

// A client that subscribes between a turn's message and its start has the turn in its state: no
// SessionStarted makes it begin again.
func TestATurnInTheInitialStateStartsNoMore(t *testing.T) {
	d := newServerTest(t)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.Append(protocol.MessageUser, "t1", protocol.MessageUserData{
		Message: protocol.Message{MessageID: "m1", Text: "Hello"},
	})
	d.Request(sandcastletest.RequestFrame(0, "chat.subscribe", `{"sessionId":"s"}`))
	d.Request(sandcastletest.AckFrame(0))
	d.Append(protocol.TurnStarted, "t1", protocol.TurnStartedData{MessageID: "m1"})
	if got := sandcastletest.EventTags(sandcastletest.SessionEvents(t, d.Emit())); got != "start" {
		t.Errorf("it gets %q", got)
	}
	d.Request(sandcastletest.AckFrame(0))
	d.EndTurn("t1", protocol.ReasonCompleted)
	d.StartTurn("t2", "again")
	d.Emit()
	if got := sandcastletest.EventTags(sandcastletest.SessionEvents(t, d.Request(sandcastletest.AckFrame(0)))); got != "UserMessage SessionStarted start" {
		t.Errorf("of the next turn it gets %q", got)
	}
}

// SC-17, SC-30, SC-31, SC-32, X-5: edits and moves lead to the same queue at the client.
func TestEditsAndMovesLeaveTheSameQueue(t *testing.T) {
	d := newServerTest(t)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.Request(sandcastletest.RequestFrame(0, "SubscribeSession", `{"sessionId":"s"}`))
	zero := 0
	for _, id := range []string{"a", "b", "c"} {
		d.Append(protocol.QueueAdded, "", protocol.QueueAddedData{Message: protocol.Message{MessageID: id, Text: id}})
	}
	d.Append(protocol.QueueMoved, "", protocol.QueueMovedData{MessageID: "c", Index: 0})
	d.Append(protocol.QueueUpdated, "", protocol.QueueUpdatedData{MessageID: "a", Text: "A"})
	d.Append(protocol.QueueAdded, "", protocol.QueueAddedData{
		Message: protocol.Message{MessageID: "d", Text: "d"}, Index: &zero,
	})
	d.Append(protocol.QueueRemoved, "", protocol.QueueRemovedData{MessageID: "b", Reason: protocol.RemovedUser})
	d.Emit()
	var queue []string
	for _, e := range sandcastletest.SessionEvents(t, d.Request(sandcastletest.AckFrame(0))) {
		switch e.Tag {
		case wire.MessageQueued:
			queue = append(queue, e.Message.ID+e.Message.Content)
		case wire.MessageDequeued:
			for i := range queue {
				if strings.HasPrefix(queue[i], e.MessageID) {
					queue = append(queue[:i], queue[i+1:]...)
					break
				}
			}
		}
	}
	if got := strings.Join(queue, " "); got != "dd cc aA" {
		t.Errorf("the client's queue is %s", got)
	}
}

// SC-47, SC-48, SC-45, X-18.
func TestABadRequestEndsAlone(t *testing.T) {
	d := newServerTest(t)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.Request(sandcastletest.RequestFrame(0, "SubscribeSession", `{"sessionId":"s"}`))
	die := func(id, why string) string {
		return `{"_tag":"Exit","requestId":"` + id + `","exit":{"_tag":"Failure","cause":{"_tag":"Die","defect":` +
			string(protocol.MustEncode(why)) + `}}}`
	}
	sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(1, "chat.send", `{"content":"x"}`)),
		die("1", "{ readonly sessionId: string }\n└─ [\"sessionId\"]\n   └─ is missing"))
	sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(2, "nope.nope", `{}`)), die("2", "Unknown request tag: nope.nope"))
	sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(3, "chat.send", `7`)), die("3", "the payload of chat.send is malformed"))
	sandcastletest.WantLines(t, d.Request(`{"_tag":"Request","id":{},"tag":"chat.send"}`+"\n"),
		`{"_tag":"Defect","defect":"a request without an id"}`)
	sandcastletest.WantLines(t, d.Request("{]\n"),
		`{"_tag":"Defect","defect":{"message":"not a message of the protocol","name":"SyntaxError"}}`)
	sandcastletest.WantLines(t, d.Request(`{"_tag":"Pi`))
	sandcastletest.WantLines(t, d.Request("ng\"}\n{\"_tag\":\"Ping\"}\n"), `{"_tag":"Pong"}`, `{"_tag":"Pong"}`)
	sandcastletest.WantLines(t, d.Request(`{"_tag":"Eof"}`+"\n"))
	d.StartTurn("t1", "still here")
	d.Emit()
	if got := sandcastletest.EventTags(sandcastletest.SessionEvents(t, d.Request(sandcastletest.AckFrame(0)))); got != "UserMessage SessionStarted start" {
		t.Errorf("the stream got %q", got)
	}
	sandcastletest.WantLines(t, d.Request(`{"_tag":"Interrupt","requestId":"0"}`+"\n"),
		`{"_tag":"Exit","requestId":"0","exit":{"_tag":"Failure","cause":{"_tag":"Interrupt","fiberId":{"_tag":"Runtime","id":-499,"startTimeMillis":0}}}}`)
	if d.Following {
		t.Error("the session is still subscribed")
	}
}

// SC-27, SC-46, SC-25, X-21: a stream without acks is bounded and loses nothing. Answers overtake
// it.
func TestAStreamThatIsNotAcknowledgedIsBounded(t *testing.T) {
	d := newServerTest(t)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.Request(sandcastletest.RequestFrame(0, "SubscribeSession", `{"sessionId":"s"}`))
	d.StartTurn("t1", "go")
	d.Append(protocol.TextStart, "t1", protocol.PartStartData{Part: "p"})
	for i := range 200 {
		d.Append(protocol.TextDelta, "t1", protocol.PartDeltaData{
			Part: "p", Text: fmt.Sprintf("%d:%s,", i, strings.Repeat("x", 10<<10)),
		})
		d.Emit()
	}
	sub := codecOf(d).subscriptions.bySession["s"]
	if sub.phase != phasePaused || sub.streams[0].bytes > maxPending+64<<10 {
		t.Fatalf("phase %d, %d bytes pending", sub.phase, sub.streams[0].bytes)
	}
	sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(1, "GetSessionState", `{"sessionId":"s"}`))[:0])
	if len(d.Sent) != 1 {
		t.Errorf("no answer while the stream waits: %q", d.Sent)
	}
	d.Append(protocol.TextEnd, "t1", protocol.PartEndData{Part: "p"})
	d.EndTurn("t1", protocol.ReasonCompleted)
	var got strings.Builder
	for range 20 {
		list := sandcastletest.SessionEvents(t, append(d.Request(sandcastletest.AckFrame(0)), d.Emit()...))
		for _, e := range list {
			var c wire.ChatEvent
			_ = json.Unmarshal(e.Event, &c)
			if c.Delta != nil {
				got.WriteString(*c.Delta)
			}
		}
		if n := len(list); n > 0 && list[n-1].Tag == wire.SessionStopped {
			break
		}
	}
	want := ""
	for i := range 200 {
		want += fmt.Sprintf("%d:%s,", i, strings.Repeat("x", 10<<10))
	}
	if got.String() != want {
		t.Errorf("got %d bytes, want %d", got.Len(), len(want))
	}
}

// SC-40, SC-27: a stream without acks delays no other stream of its session, existing or new, and
// is bounded.
func TestAStreamThatIsBehindHoldsUpNoOther(t *testing.T) {
	d := newServerTest(t)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.Request(sandcastletest.RequestFrame(0, "SubscribeSession", `{"sessionId":"s"}`)) // sends no Ack
	d.Request(sandcastletest.RequestFrame(1, "SubscribeSession", `{"sessionId":"s"}`))
	d.StartTurn("t1", "go")
	d.Append(protocol.TextStart, "t1", protocol.PartStartData{Part: "p"})
	sub := codecOf(d).subscriptions.bySession["s"]
	emitDelta := func(take bool) {
		t.Helper()
		d.Append(protocol.TextDelta, "t1", protocol.PartDeltaData{Part: "p", Text: strings.Repeat("x", 100<<10)})
		d.Emit()
		if take {
			d.Request(sandcastletest.AckFrame(1))
		}
	}
	for range 40 {
		emitDelta(true)
	}
	if sub.phase != phaseLive || len(sub.streams) != 2 || sub.streams[0].bytes < 3<<20 || sub.streams[1].bytes > 0 {
		t.Fatalf("phase %d, %d streams, %d and %d bytes pending", sub.phase, len(sub.streams), sub.streams[0].bytes,
			sub.streams[1].bytes)
	}
	for range 12 {
		emitDelta(false)
	}
	if sub.phase != phasePaused {
		t.Fatal("a session without acknowledging streams is subscribed")
	}
	if got := sandcastletest.SessionEvents(t, d.Request(sandcastletest.RequestFrame(2, "SubscribeSession", `{"sessionId":"s"}`))); len(got) != 1 ||
		got[0].Tag != wire.InitialState || len(got[0].Buffer) < 3 {
		t.Errorf("a new stream gets %s", sandcastletest.EventTags(got))
	}
	for range 50 {
		d.Request(sandcastletest.AckFrame(2))
		emitDelta(true)
	}
	if len(sub.streams) != 2 || sub.phase != phaseLive {
		t.Errorf("phase %d, %d streams", sub.phase, len(sub.streams))
	}
	d.EndTurn("t1", protocol.ReasonCompleted)
	d.Emit()
	if got := strings.Join(d.Request(sandcastletest.AckFrame(1)+sandcastletest.AckFrame(2)), ""); strings.Count(got, wire.SessionStopped) != 2 {
		t.Error("the other streams miss the end")
	}
}

// SC-43: on their screens a renamed call starts again, so its input and output are repeated.
func TestARenamedToolKeepsItsOutput(t *testing.T) {
	d := newServerTest(t)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.StartTurn("t1", "go")
	d.Append(protocol.ToolStarted, "t1", protocol.ToolStartedData{
		Tool: "x", Name: "Bash", Title: "ls", Input: json.RawMessage(`{"command":"ls"}`),
	})
	d.Append(protocol.ToolOutput, "t1", protocol.ToolOutputData{Tool: "x", Text: "a b"})
	d.Append(protocol.ApprovalRequested, "t1", protocol.Approval{
		Request: "r1", Kind: protocol.ApproveTool, Tool: "x", Name: "Bash", Options: []protocol.Option{},
	})
	d.Request(sandcastletest.RequestFrame(0, "chat.subscribe", `{"sessionId":"s"}`))
	again := protocol.ToolStartedData{Tool: "x", Title: "list all"}
	d.Append(protocol.ToolStarted, "t1", again)
	d.Emit()
	got := sandcastletest.SessionEvents(t, d.Request(sandcastletest.AckFrame(0)))
	if sandcastletest.EventTags(got) != "tool-input-available tool-output-available tool-approval-request" ||
		!strings.Contains(string(got[0].Event), `"input":{"command":"ls"}`) ||
		!strings.Contains(string(got[0].Event), `"title":"list all"`) ||
		!strings.Contains(string(got[1].Event), `"output":"a b","preliminary":true`) {
		t.Errorf("sent %s: %s", sandcastletest.EventTags(got), d.Sent)
	}
	d.Append(protocol.ToolStarted, "t1", again)
	if d.Emit(); len(d.Request(sandcastletest.AckFrame(0))) != 0 {
		t.Errorf("sent again: %s", d.Sent)
	}
}

// SC-13, SC-39.
func TestADeletedSessionEndsItsStreams(t *testing.T) {
	d := newServerTest(t)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.Request(sandcastletest.RequestFrame(0, "SubscribeSession", `{"sessionId":"s"}`))
	d.Request(sandcastletest.AckFrame(0))
	gone := protocol.Event{
		Session: "s", Type: protocol.SummaryChanged,
		Data: protocol.MustEncode(protocol.Summary{Session: "s", Deleted: true}),
	}
	d.Sent = nil
	d.Deliver(d.Codec.Native(sandcastletest.Noon, gone.AppendJSON(nil)))
	sandcastletest.WantLines(t, d.Sent, `{"_tag":"Chunk","requestId":"0","values":[{"_tag":"SessionDeleted","sessionId":"s"}]}`)
	sandcastletest.WantLines(t, d.Request(sandcastletest.AckFrame(0)), `{"_tag":"Exit","requestId":"0","exit":{"_tag":"Success"}}`)
}

// Sandcastle's clients show the input of the call that a request is about. An agent that asks for
// something its call did not show must not get it allowed unseen, neither live nor by a late
// client.
func TestACallShowsWhatItsRequestAsksFor(t *testing.T) {
	d := newServerTest(t)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.Request(sandcastletest.RequestFrame(0, "chat.subscribe", `{"sessionId":"s"}`))
	d.StartTurn("t1", "go")
	d.Append(protocol.ToolStarted, "t1", protocol.ToolStartedData{
		Tool: "x", Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`),
	})
	d.Append(protocol.ToolStarted, "t1", protocol.ToolStartedData{
		Tool: "y", Name: "Bash", Input: json.RawMessage(`{"command": "pwd"}`),
	})
	d.Append(protocol.ApprovalRequested, "t1", protocol.Approval{
		Request: "r1", Kind: protocol.ApproveTool, Tool: "x", Name: "Bash",
		Input: json.RawMessage(`{"command":"rm -rf /"}`),
	})
	d.Append(protocol.ApprovalRequested, "t1", protocol.Approval{
		Request: "r2", Kind: protocol.ApproveTool, Tool: "y", Name: "Bash", Input: json.RawMessage(`{"command":"pwd"}`),
	})
	d.Append(protocol.ToolStarted, "t1", protocol.ToolStartedData{
		Tool: "z", Name: "present_plan", Input: json.RawMessage(`{"steps":[]}`),
	})
	d.Append(protocol.ApprovalRequested, "t1", protocol.Approval{
		Request: "r3", Kind: protocol.ApprovePlan, Tool: "z", Title: "Plan: small", Name: "present_plan",
	})
	d.Emit()
	live := sandcastletest.SessionEvents(t, d.Request(sandcastletest.AckFrame(0)))
	joined := d.Request(sandcastletest.RequestFrame(1, "chat.subscribe", `{"sessionId":"s"}`))
	late := sandcastletest.SessionEvents(t, append(joined, d.Request(sandcastletest.AckFrame(1))...))
	for name, got := range map[string][]wire.SessionEvent{"live": live, "late": late} {
		shown := map[string]string{}
		for _, e := range got {
			var c wire.ChatEvent
			if json.Unmarshal(e.Event, &c) == nil && c.Type == wire.ChatToolInput {
				shown[c.ToolCallID] = c.ToolName + string(c.Input)
			}
		}
		if !strings.Contains(shown["x"], "rm -rf /") || strings.Contains(shown["y"], "rm") {
			t.Errorf("%s: the calls show %v", name, shown)
		}
		if shown["z"] != `mcp__plan-mode-ui__ExitPlanMode{"plan":"Plan: small"}` {
			t.Errorf("%s: the call of a plan shows %s", name, shown["z"])
		}
	}
}

// SC-49.
func TestApprovalsAreAskedAndDecided(t *testing.T) {
	d := newServerTest(t)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.Request(sandcastletest.RequestFrame(0, "chat.subscribe", `{"sessionId":"s"}`))
	d.StartTurn("t1", "go")
	d.Append(protocol.ToolStarted, "t1", protocol.ToolStartedData{
		Tool: "call-1", Name: "Bash", Input: json.RawMessage(`{"command":"rm -rf build"}`),
	})
	d.Append(protocol.ApprovalRequested, "t1", protocol.Approval{
		Request: "r1", Kind: protocol.ApproveCommand, Title: "Run", Tool: "call-1", Name: "Bash",
	})
	d.Append(protocol.ApprovalRequested, "t1", protocol.Approval{
		Request: "r2", Kind: protocol.ApproveQuestion, Title: "Which?", Questions: []protocol.Question{
			{ID: "branch", Text: "Which branch?", Choices: []protocol.Choice{{ID: "main", Label: "the main one"}}},
		},
	})
	d.Emit()
	got := sandcastletest.EventTags(sandcastletest.SessionEvents(t, d.Request(sandcastletest.AckFrame(0))))
	if want := "UserMessage SessionStarted start tool-input-start tool-input-available data-agentctl tool-approval-request data-agentctl tool-input-start tool-input-available tool-approval-request"; got != want {
		t.Errorf("got %s", got)
	}
	d.Request(sandcastletest.AckFrame(0))
	late := sandcastletest.SessionEvents(t, d.Request(sandcastletest.RequestFrame(1, "chat.subscribe", `{"sessionId":"s"}`)))[0]
	if p := late.PendingApprovals; len(p) != 2 || p[0] != (wire.PendingApproval{ToolCallID: "call-1", ToolName: "Bash"}) ||
		p[1] != (wire.PendingApproval{ToolCallID: "r2", ToolName: "AskUserQuestion"}) {
		t.Errorf("a late client gets %+v", p)
	}
	decide := func(id int, payload, want string) {
		t.Helper()
		sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(id, "chat.respondToToolApproval", payload)),
			fmt.Sprintf(`{"_tag":"Exit","requestId":"%d","exit":{"_tag":"Success","value":{"acknowledged":true}}}`, id))
		if got := string(d.Commands[len(d.Commands)-1].Data); got != want {
			t.Errorf("the native server got %s", got)
		}
	}
	decide(2, `{"type":"tool-approval-response","toolCallId":"call-1","toolName":"Bash","approved":false}`,
		`{"request":"r1","decision":"deny"}`)
	decide(3, `{"type":"tool-approval-response","toolCallId":"r2","toolName":"AskUserQuestion","approved":true,"payload":{"type":"AskUserQuestionPayload","answers":{"Which branch?":"the main one"}}}`,
		`{"request":"r2","decision":"allow_once","input":{"answers":{"branch":["main"]}}}`)
	sandcastletest.WantLines(t, d.Request(sandcastletest.RequestFrame(4, "chat.respondToToolApproval",
		`{"type":"tool-approval-response","toolCallId":"nope","toolName":"Bash","approved":true}`)),
		`{"_tag":"Exit","requestId":"4","exit":{"_tag":"Failure","cause":{"_tag":"Fail","error":{"toolCallId":"nope","_tag":"ToolApprovalNotFoundRpcError"}}}}`)
}

// An approval that a rule allows immediately is not requested: no client could decide it.
func TestWhatARuleAllowsIsNotAsked(t *testing.T) {
	d := newServerTest(t)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.Request(sandcastletest.RequestFrame(0, "chat.subscribe", `{"sessionId":"s"}`))
	d.StartTurn("t1", "go")
	asks := func(request string) {
		d.Append(protocol.ApprovalRequested, "t1", protocol.Approval{
			Request: request, Kind: protocol.ApproveTool, Title: "Look", Name: "look",
			Input:   json.RawMessage(`{"at":"x"}`),
			Options: []protocol.Option{{ID: "always", Kind: protocol.AllowAlways}},
		})
	}
	asks("r1")
	d.Append(protocol.ApprovalResolved, "t1", protocol.ApprovalResolvedData{
		Request: "r1", Outcome: protocol.Allowed,
		Rule: &protocol.Rule{
			ID: "rule1", Kind: protocol.ApproveTool, Subject: `{"input":{"at":"x"},"name":"look"}`,
		},
	})
	d.Emit()
	if got := sandcastletest.EventTags(sandcastletest.SessionEvents(t, d.Request(sandcastletest.AckFrame(0)))); strings.Count(got, "tool-approval-request") != 1 {
		t.Errorf("at first %s", got)
	}
	asks("r2")
	d.Append(protocol.ApprovalResolved, "t1", protocol.ApprovalResolvedData{
		Request: "r2", Outcome: protocol.Allowed, ByRule: "rule1",
	})
	d.Emit()
	if got := sandcastletest.EventTags(sandcastletest.SessionEvents(t, d.Request(sandcastletest.AckFrame(0)))); strings.Contains(got, "tool-approval-request") ||
		!strings.Contains(got, "tool-output-available") {
		t.Errorf("then %s", got)
	}
}

func TestAPlanDeniedWithFeedbackIsReplanned(t *testing.T) {
	no := false
	p := &wire.ApprovalResponse{Approved: &no, Payload: &wire.ApprovalAnswer{Type: wire.FeedbackPayload, Feedback: "smaller steps"}}
	d := wire.DecisionOf(&protocol.Approval{Request: "r", Kind: protocol.ApprovePlan}, p)
	if d.Decision != protocol.Deny || d.Reason != "smaller steps" || d.Input == nil || !d.Input.Replan {
		t.Errorf("%+v", d)
	}
}

// SC-18, SC-34, SC-37, SC-38.
func TestEveryEndOfATurnHasOneFinish(t *testing.T) {
	for reason, want := range map[protocol.Reason][2]string{
		protocol.ReasonCompleted: {"stop", "completed"}, protocol.ReasonInterrupted: {"other", "interrupted"},
		protocol.ReasonError: {"error", "error"}, protocol.ReasonTimeout: {"error", "error"},
		protocol.ReasonMaxTokens: {"length", "completed"}, protocol.ReasonMaxRequests: {"error", "error"},
		protocol.ReasonRefusal: {"content-filter", "completed"}, protocol.ReasonDenied: {"other", "interrupted"},
	} {
		d := newServerTest(t)
		d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
		d.StartTurn("t1", "go")
		d.Request(sandcastletest.RequestFrame(0, "SubscribeSession", `{"sessionId":"s"}`))
		d.EndTurn("t1", reason)
		d.Emit()
		got := sandcastletest.SessionEvents(t, d.Request(sandcastletest.AckFrame(0)))
		var c wire.ChatEvent
		_ = json.Unmarshal(got[0].Event, &c)
		if len(got) != 2 || c.Type != wire.ChatFinish || c.FinishReason != want[0] || got[1].Reason != want[1] {
			t.Errorf("%s: %s, %+v", reason, c.FinishReason, got)
		}
	}
}

// SC-26, X-9: a replaced log restarts the same stream with a new state.
func TestAResetIsAFreshInitialState(t *testing.T) {
	d := newServerTest(t)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.Request(sandcastletest.RequestFrame(0, "SubscribeSession", `{"sessionId":"s"}`))
	d.Request(sandcastletest.AckFrame(0))
	d.Epoch, d.Events = "e2", nil
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	d.StartTurn("t9", "new")
	d.Append(protocol.Notice, "t9", protocol.NoticeData{Message: "x"})
	d.Append(protocol.Notice, "t9", protocol.NoticeData{Message: "y"})
	d.After = 3
	if got := sandcastletest.SessionEvents(t, d.Emit()); len(got) != 1 || got[0].Tag != wire.InitialState ||
		*got[0].Snapshot.ActiveTurnID != "t9" {
		t.Errorf("%+v", got)
	}
}

// SC-28, SC-29.
func TestHistoryHasTheFinishedTurnsAfterAMessage(t *testing.T) {
	d := newServerTest(t)
	d.Append(protocol.SessionCreated, "", protocol.SessionCreatedData{Agent: "a"})
	for _, turn := range []string{"t1", "t2"} {
		d.StartTurn(turn, "ask "+turn)
		d.AppendText(turn, "p1", "answer ", turn)
		d.Append(protocol.ToolStarted, turn, protocol.ToolStartedData{
			Tool: "x" + turn, Name: "Bash", Input: json.RawMessage(`{"command":"ls"}`),
		})
		d.Append(protocol.ToolOutput, turn, protocol.ToolOutputData{Tool: "x" + turn, Text: "ok"})
		d.Append(protocol.ToolEnded, turn, protocol.ToolEndedData{Tool: "x" + turn, Status: protocol.ToolCompleted})
		d.EndTurn(turn, protocol.ReasonCompleted)
	}
	var list []json.RawMessage
	for i := range d.Events {
		list = append(list, d.Events[i].AppendJSON(nil))
	}
	turns := turnsFromEvents(list)
	got := string(Messages(turns, "t1"))
	want := `[{"id":"mt2","role":"user","parts":[{"type":"text","text":"ask t2"}],"createdAt":"2026-03-01T12:00:11.000Z","clientMessageId":"ct2","turnId":"t2"},` +
		`{"id":"t2","role":"assistant","parts":[{"type":"text","text":"answer t2","state":"done"},{"type":"dynamic-tool","state":"output-available","toolCallId":"xt2","toolName":"Bash","input":{"command":"ls"},"output":"ok"}],"createdAt":"2026-03-01T12:00:20.000Z","turnId":"t2","metadata":{"agentctl":{"reason":"completed","duration_ms":0}}}]`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if n := len(historyMessages(turns, "", "")); n != 4 {
		t.Errorf("%d messages", n)
	}
	if n := len(historyMessages(turns, "", "t2")); n != 0 {
		t.Errorf("%d messages after the last", n)
	}
	sent := d.Request(sandcastletest.RequestFrame(0, "chat.getHistory", `{"sessionId":"s","afterMessageId":"t1"}`))
	want = strings.ReplaceAll(want, `","role"`, `","sessionId":"s","role"`)
	want = strings.ReplaceAll(want, `"duration_ms":0}}`, `"duration_ms":0},"claudeSessionId":"s","model":"agentctl"}`)
	sandcastletest.WantLines(t, sent, `{"_tag":"Exit","requestId":"0","exit":{"_tag":"Success","value":{"messages":`+want+`}}}`)
}

// SC-28: a long history is read in pages, up to a bound or the client's last message.
func TestALongHistoryIsReadUpToABound(t *testing.T) {
	much := protocol.MustEncode(protocol.Event{
		Session: "s", Seq: 2, Turn: "t1", Type: protocol.TextDelta,
		Data: protocol.MustEncode(protocol.PartDeltaData{Part: "p", Text: strings.Repeat("x", 200<<10)}),
	})
	asked := protocol.MustEncode(protocol.Event{
		Session: "s", Seq: 1, Turn: "t1", Type: protocol.MessageUser,
		Data: protocol.MustEncode(protocol.MessageUserData{Message: protocol.Message{MessageID: "m1", Text: "x"}}),
	})
	for after, want := range map[string]int{"": 9, "m1": 1} {
		d := newServerTest(t)
		page := protocol.HistoryResult{
			Epoch: "e1", First: 100, Last: 200, More: true,
			Events: []json.RawMessage{asked, much, much, much, much, much},
		}
		d.NativeServer.Answers[protocol.DoHistory] = page
		sent := d.Request(sandcastletest.RequestFrame(0, "chat.getHistory", `{"sessionId":"s","afterMessageId":"`+after+`"}`))
		pages := 0
		for _, c := range d.Commands {
			if c.Command == protocol.DoHistory {
				pages++
			}
		}
		if len(sent) != 1 || !strings.Contains(sent[0], `"Success"`) || pages != want {
			t.Errorf("after %q: %d pages, %d answers", after, pages, len(sent))
		}
	}
}
