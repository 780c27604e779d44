package multiagent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// MA-5 to MA-7, MA-9, MA-10, MA-12, MA-14: the server sends the document's examples.
func TestTheServersExamplesOfTheDocument(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.receive(`{ "type": "PING" }`)
	h.wantSent(`{ "type": "PONG" }`)
	h.receive(`{ "type": "start_conversation", "payload": { "domainId": "software_development" } }`)
	h.wantSent(`{ "type": "conversation_started", "payload": { "conversationId": "uuid", "domainId": "software_development", "activeAgent": "agent_id" } }`)
	if len(h.commands) != 1 || string(h.commands[0].Data) != `{"agent":"software_development"}` {
		t.Fatalf("%v", h.commands)
	}

	h.startTurn("uuid")
	h.emit(protocol.TextStart, protocol.PartStartData{Part: "p"})
	h.emit(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "partial text"})
	h.wantSent(`{ "type": "message_chunk", "conversationId": "uuid", "payload": {
		"messageId": "uuid", "chunk": "partial text", "agentName": "Agent Name" } }`)

	h.emit(protocol.ToolStarted, protocol.ToolStartedData{Tool: "k", Name: "Tool Name"})
	h.emit(protocol.ApprovalRequested, protocol.Approval{
		Request: "uuid", Kind: protocol.ApproveTool, Tool: "k", Name: "Tool Name", Title: "Tool description",
		Input: json.RawMessage(`{}`),
	})
	h.wantSent(`{ "type": "tool_approval_required", "conversationId": "uuid", "payload": { "requestId": "uuid", "toolName": "Tool Name",
		"toolArgs": {}, "description": "Tool description", "agentName": "Agent Name" } }`)
	h.receive(`{ "type": "approve_tool", "conversationId": "uuid", "requestId": "uuid", "payload": { "approved": true, "reason": "optional rejection reason" } }`)
	h.wantSent()
	h.emit(protocol.ToolEnded, protocol.ToolEndedData{Tool: "k", Status: protocol.ToolCompleted})
	h.wantSent(`{ "type": "tool_executed", "conversationId": "uuid", "payload": { "requestId": "uuid", "toolName": "Tool Name", "result": {},
		"success": true } }`)

	h.emit(protocol.TurnEnded, protocol.TurnEndedData{
		Reason: protocol.ReasonCompleted, Usage: &protocol.Usage{Output: 150}, DurationMS: 2500,
	})
	h.wantSent(`{ "type": "message_complete", "conversationId": "uuid", "payload": { "messageId": "uuid", "content": "partial text",
		"agentName": "Agent Name", "metadata": { "tokenCount": 150, "durationMs": 2500 } } }`)

	got := string(errorFrame("uuid", "error_code", "Error message").encode().Data)
	want := compactJSON(`{ "type": "error", "conversationId": "uuid", "error": "Error message", "payload": { "code": "error_code", "message": "Error message" } }`)
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// MA-8, MA-9: the chunks joined in order are the content.
func TestAMessageStreamsAndIsRepeatedWhole(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.receive(`{ "type": "send_message", "conversationId": "uuid", "payload": { "content": "Hello, help me with..." } }`)
	if len(h.commands) != 1 || h.commands[0].Command != protocol.DoSend ||
		!strings.Contains(string(h.commands[0].Data), "Hello, help me with...") {
		t.Fatalf("%v", h.commands)
	}
	task := func(typ protocol.Type, data any) { h.emitEntry(codec.Entry{Type: typ, Task: "1", Data: data}) }
	h.emit(protocol.TextDelta, protocol.PartDeltaData{Part: "a", Text: "one "})
	task(protocol.TextDelta, protocol.PartDeltaData{Part: "x", Text: "of a "})
	h.emit(protocol.TextDelta, protocol.PartDeltaData{Part: "a", Text: "two"})
	task(protocol.TextDelta, protocol.PartDeltaData{Part: "x", Text: "task"})
	task(protocol.TextEnd, protocol.PartEndData{Part: "x"})
	h.emit(protocol.JoinedDeltas, protocol.JoinedData{Parts: []protocol.JoinedPart{
		{Part: "b", Kind: protocol.KindText, Text: "three"}, {Part: "r", Kind: protocol.KindReasoning, Text: "hm"},
	}})
	h.emit(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	joined, content := "", ""
	for _, f := range h.takeSent() {
		m := decodeMessage([]byte(f))
		switch m.messageType() {
		case typeChunk:
			joined += m.payload().text("chunk")
		case typeComplete:
			content = m.payload().text("content")
		default:
			t.Errorf("unexpected %s", f)
		}
	}
	if want := "one two\n\nof a task\n\nthree"; joined != want || content != want {
		t.Errorf("chunks %q, content %q, want %q", joined, content, want)
	}
}

// MA-11: a cancelled stream has its own error code. Without a stream, cancel fails.
func TestCancel(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.receive(`{ "type": "cancel_stream", "conversationId": "uuid" }`)
	h.wantSent(`{"type":"error","conversationId":"uuid","error":"No active stream","payload":{"code":"not_found","message":"No active stream"}}`)
	h.receive(`{"type":"send_message","conversationId":"uuid","payload":{"content":"go"}}`)
	h.receive(`{ "type": "cancel_stream", "conversationId": "uuid" }`)
	h.wantSent(`{"type":"error","conversationId":"uuid","error":"Stream cancelled","payload":{"code":"cancelled","message":"Stream cancelled"}}`)
}

// a message during a turn is queued, and the turn goes on.
func TestASecondMessageIsQueued(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.receive(`{"type":"send_message","conversationId":"uuid","payload":{"content":"one"}}`)
	h.receive(`{"type":"send_message","conversationId":"uuid","payload":{"content":"two"}}`)
	h.wantSent(`{"type":"workflow_thought","payload":{"agentId":"queue","agentName":"queue","conversationId":"uuid","reason":"queued: it comes next"}}`)
	h.emit(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	if h.log.State.Turn == nil || h.log.State.Turn.Message.Text != "two" {
		t.Error("the second message did not start")
	}
}

// MA-14: a rejected tool is executed without success, and only the client that rejected it gets the
// error.
func TestReject(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.useConversation()
	h.startTurn("t")
	h.emit(protocol.ApprovalRequested, protocol.Approval{
		Request: "r", Kind: protocol.ApproveCommand, Tool: "k", Title: "rm", Command: "rm -rf build",
	})
	h.wantSent(`{"type":"tool_approval_required","conversationId":"uuid","payload":{"requestId":"r","toolName":"command","toolArgs":{"command":"rm -rf build"},"description":"rm\nrm -rf build","agentName":"Agent Name"}}`)
	h.receive(`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":false,"reason":"nope"}}`)
	h.emit(protocol.ToolEnded, protocol.ToolEndedData{Tool: "k", Status: protocol.ToolDenied})
	h.wantSent(
		`{"type":"tool_executed","conversationId":"uuid","payload":{"requestId":"r","toolName":"command","result":null,"success":false,"errorMessage":"nope"}}`,
		`{"type":"error","conversationId":"uuid","error":"nope","payload":{"code":"rejected","message":"nope"}}`,
	)
	h.emit(protocol.ApprovalRequested, protocol.Approval{Request: "without a reason", Kind: protocol.ApproveCommand})
	h.takeSent()
	h.receive(`{"type":"approve_tool","conversationId":"uuid","requestId":"without a reason","payload":{"approved":false}}`)
	if sent := h.takeSent(); len(sent) == 0 ||
		sent[len(sent)-1] != `{"type":"error","conversationId":"uuid","error":"Tool rejected","payload":{"code":"rejected","message":"Tool rejected"}}` {
		t.Errorf("rejected without a reason: %s", sent)
	}
	h.receive(`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":true}}`)
	h.receive(`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":false}}`)
	h.wantSent(
		`{"type":"error","conversationId":"uuid","error":"grace has already decided","payload":{"code":"tool_execute_failed","message":"grace has already decided"}}`,
		`{"type":"error","conversationId":"uuid","error":"grace has already decided","payload":{"code":"tool_reject_failed","message":"grace has already decided"}}`,
	)
}

// The rejecting client gets tool_executed first, also if its answer precedes the event.
func TestARejectionIsConfirmedAfterItsTool(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.useConversation()
	h.startTurn("t")
	h.emit(protocol.ApprovalRequested, protocol.Approval{Request: "r", Kind: "tool", Tool: "k", Name: "rm"})
	h.takeSent()
	h.answer = func(out *codec.Output, c *protocol.Command) bool {
		h.responder.Answer(out, c, protocol.ApproveResult{Request: "r", Outcome: protocol.Denied})
		return true
	}
	h.receive(`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":false,"reason":"nope"}}`)
	h.wantSent()
	h.emit(protocol.ApprovalResolved, protocol.ApprovalResolvedData{
		Request: "r", Outcome: protocol.Denied, Decision: protocol.Deny, Reason: "nope",
	})
	h.wantSent(
		`{"type":"tool_executed","conversationId":"uuid","payload":{"requestId":"r","toolName":"rm","result":null,"success":false,"errorMessage":"nope"}}`,
		`{"type":"error","conversationId":"uuid","error":"nope","payload":{"code":"rejected","message":"nope"}}`,
	)
}

func TestNoRequestStaysOpen(t *testing.T) {
	for _, c := range []struct {
		name string
		a    protocol.Approval
		end  func(*serverTest)
		why  string
	}{
		{"expired", protocol.Approval{Request: "r", Kind: "tool", Tool: "k"}, func(h *serverTest) {
			h.emit(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: "r", Outcome: protocol.Expired})
		}, `"success":false,"errorMessage":"expired"`},
		{"allowed by another, no tool", protocol.Approval{Request: "r", Kind: "plan"}, func(h *serverTest) {
			h.emit(protocol.ApprovalResolved, protocol.ApprovalResolvedData{
				Request: "r", Outcome: protocol.Allowed, Decision: protocol.AllowOnce,
			})
		}, `"result":{"decision":"allow_once"},"success":true`},
		{"the turn ends", protocol.Approval{Request: "r", Kind: "tool", Tool: "k"}, func(h *serverTest) {
			h.emit(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonError, Message: "broke"})
		}, `"success":false,"errorMessage":"the turn ended"`},
	} {
		h := newServerTest(t, codec.ServerOptions{})
		h.useConversation()
		h.startTurn("t")
		h.emit(protocol.ApprovalRequested, c.a)
		h.takeSent()
		c.end(h)
		if got := h.takeSent(); len(got) == 0 || !strings.Contains(got[0], c.why) ||
			!strings.Contains(got[0], `"requestId":"r"`) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// MA-15 to MA-17, X-18: an invalid message gets an error, and the connection stays open.
func TestBadInput(t *testing.T) {
	for _, c := range []struct{ frame, code, message string }{
		{`nonsense`, badRequest, "a message is a JSON object with a type"},
		{`[1,2]`, badRequest, "a message is a JSON object with a type"},
		{`{}`, badRequest, "a message is a JSON object with a type"},
		{`{"type":7}`, badRequest, "a message is a JSON object with a type"},
		{`{"type":"bogus"}`, "", "Unknown event type: bogus"},
		{`{"type":"start_conversation"}`, badRequest, "domainId is required"},
		{`{"type":"start_conversation","payload":{"domainId":5}}`, badRequest, "domainId is required"},
		{`{"type":"send_message","payload":{"content":"x"}}`, badRequest, "conversationId is required"},
		{`{"type":"send_message","conversationId":"uuid","payload":{}}`, badRequest, "content is required"},
		{`{"type":"send_message","conversationId":"uuid","payload":"x"}`, badRequest, "content is required"},
		{
			`{"type":"send_message","conversationId":"nobody","payload":{"content":"x"}}`, notFound,
			`no session is called "nobody"`,
		},
		{`{"type":"cancel_stream"}`, notFound, "No active stream"},
		{`{"type":"cancel_stream","conversationId":"nobody"}`, notFound, `no session is called "nobody"`},
		{
			`{"type":"approve_tool","conversationId":"uuid","payload":{"approved":true}}`, notFound,
			"Unknown requestId",
		},
		{
			`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{}}`, badRequest,
			"approved is required",
		},
		{
			`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":"yes"}}`, badRequest,
			"approved is required",
		},
	} {
		h := newServerTest(t, codec.ServerOptions{})
		h.receive(c.frame)
		h.receive(`{"type":"PING"}`)
		got := h.takeSent()
		if len(got) != 2 || got[1] != `{"type":"PONG"}` {
			t.Fatalf("%s: %v", c.frame, got)
		}
		m := decodeMessage([]byte(got[0]))
		if m.messageType() != typeError || m.text("error") != c.message || m.payload().text("code") != c.code ||
			c.code != "" && m.payload().text("message") != c.message {
			t.Errorf("%s: %s", c.frame, got[0])
		}
	}
}

// MA-16, MA-17, X-23: an operator may not approve, and an observer may only read.
func TestRoles(t *testing.T) {
	roles := append([]protocol.Role{"stranger"}, protocol.Roles...)
	for frame, least := range map[string]protocol.Role{
		`{"type":"PING","conversationId":"uuid"}`:                                                      "stranger",
		`{"type":"start_conversation","payload":{"domainId":"d"}}`:                                     protocol.RoleOperator,
		`{"type":"send_message","conversationId":"uuid","payload":{"content":"x"}}`:                    protocol.RoleOperator,
		`{"type":"cancel_stream","conversationId":"uuid"}`:                                             protocol.RoleOperator,
		`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":true}}`:  protocol.RoleApprover,
		`{"type":"APPROVE_TOOL","conversationId":"uuid","payload":{"requestId":"r","approved":false}}`: protocol.RoleApprover,
	} {
		for rank, role := range append(roles, "") { // no role permits everything
			h := newServerTest(t, codec.ServerOptions{Role: role})
			h.useConversation()
			h.startTurn("t")
			h.emit(protocol.ApprovalRequested, protocol.Approval{Request: "r", Kind: protocol.ApproveTool, Name: "rm"})
			h.takeSent()
			h.receive(frame)
			sent := strings.Join(h.takeSent(), "")
			may := rank >= slices.Index(roles, least)
			if refused := strings.Contains(sent, `"code":"forbidden"`); refused == may || !may && len(h.commands) > 0 {
				t.Errorf("%q %s: %s", role, frame, sent)
			}
			h.receive(`{"type":"PING"}`)
			h.wantSent(`{"type":"PONG"}`) // the connection stays open
		}
	}
}

// MA-21: a message that names a conversation resumes it, with the current turn so far.
func TestAMessageResumesAConversation(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.startTurn("t")
	h.emit(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "so far"})
	h.emit(protocol.ApprovalRequested, protocol.Approval{
		Request: "r", Kind: "tool", Name: "shell", Tool: "k", Title: "ls",
	})
	h.receive(`{"type":"approve_tool","conversationId":"uuid","requestId":"other","payload":{"approved":true}}`)
	got := strings.Join(h.takeSent(), "\n")
	for _, want := range []string{`"chunk":"so far"`, `"requestId":"r"`, `tool_execute_failed`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestOneSessionUnderTwoNamesIsSentOnce(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.useConversation()
	h.startTurn("t")
	h.emit(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "once"})
	h.receive(`{"type":"send_message","conversationId":"alias","payload":{"content":"more"}}`)
	h.emit(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: " only"})
	chunks := ""
	for _, f := range h.takeSent() {
		if m := decodeMessage([]byte(f)); m.messageType() == typeChunk {
			chunks += m.payload().text("chunk")
		}
	}
	if chunks != "once only" {
		t.Errorf("%q", chunks)
	}
}

func TestReasoningIsSentOnRequest(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	think := func() {
		h.emit(protocol.ReasoningStart, protocol.PartStartData{Part: "r", Agent: "planner"})
		h.emit(protocol.ReasoningDelta, protocol.PartDeltaData{Part: "r", Text: "hm"})
		h.emit(protocol.ReasoningEnd, protocol.PartEndData{Part: "r"})
		h.emit(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	}
	h.receive(`{"type":"send_message","conversationId":"uuid","payload":{"content":"x"}}`)
	think()
	if got := h.takeSent(); len(got) != 1 {
		t.Errorf("%v", got)
	}
	h.receive(`{"type":"send_message","conversationId":"uuid","payload":{"content":"x","enableThinking":true}}`)
	think()
	if got := h.takeSent(); len(got) != 2 ||
		got[0] != `{"type":"workflow_thought","payload":{"agentId":"planner","agentName":"planner","conversationId":"uuid","reason":"hm"}}` {
		t.Errorf("%v", got)
	}
}

func TestHowATurnEnds(t *testing.T) {
	for reason, code := range map[protocol.Reason]string{
		protocol.ReasonInterrupted: cancelled, protocol.ReasonDenied: cancelled, protocol.ReasonError: streamError,
		protocol.ReasonTimeout: streamError, protocol.ReasonRefusal: streamError, protocol.ReasonMaxTokens: streamError,
	} {
		h := newServerTest(t, codec.ServerOptions{})
		h.useConversation()
		h.startTurn("t")
		h.emit(protocol.TurnEnded, protocol.TurnEndedData{Reason: reason})
		if got := h.takeSent(); len(got) != 1 || decodeMessage([]byte(got[0])).payload().text("code") != code {
			t.Errorf("%s: %v", reason, got)
		}
	}
}

// A PING that names a conversation resumes it, with its pending approvals.
func TestAPingResumesAConversation(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.startTurn("t")
	h.emit(protocol.ApprovalRequested, protocol.Approval{
		Request: "r", Kind: protocol.ApproveTool, Name: "n", Title: "d", Input: json.RawMessage(`{}`),
	})
	h.wantSent()
	h.receive(`{"type":"PING","conversationId":"uuid"}`)
	h.wantSent(`{"type":"PONG"}`, `{"type":"tool_approval_required","conversationId":"uuid","payload":{"requestId":"r","toolName":"n","toolArgs":{},
		"description":"d","agentName":"Agent Name"}}`)
}
