package server

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/multiagenttest"
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// MA-5 to MA-7, MA-9, MA-10, MA-12, MA-14: the server sends the document's examples.
func TestTheServersExamplesOfTheDocument(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.Receive(`{ "type": "PING" }`)
	h.WantSent(`{ "type": "PONG" }`)
	h.Receive(`{ "type": "start_conversation", "payload": { "domainId": "software_development" } }`)
	h.WantSent(`{ "type": "conversation_started", "payload": { "conversationId": "uuid", "domainId": "software_development", "activeAgent": "agent_id" } }`)
	if len(h.Commands) != 1 || string(h.Commands[0].Data) != `{"agent":"software_development"}` {
		t.Fatalf("%v", h.Commands)
	}

	h.StartTurn("uuid")
	h.Emit(protocol.TextStart, protocol.PartStartData{Part: "p"})
	h.Emit(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "partial text"})
	h.WantSent(`{ "type": "message_chunk", "conversationId": "uuid", "payload": {
		"messageId": "uuid", "chunk": "partial text", "agentName": "Agent Name" } }`)

	h.Emit(protocol.ToolStarted, protocol.ToolStartedData{Tool: "k", Name: "Tool Name"})
	h.Emit(protocol.ApprovalRequested, protocol.Approval{
		Request: "uuid", Kind: protocol.ApproveTool, Tool: "k", Name: "Tool Name", Title: "Tool description",
		Input: json.RawMessage(`{}`),
	})
	h.WantSent(`{ "type": "tool_approval_required", "conversationId": "uuid", "payload": { "requestId": "uuid", "toolName": "Tool Name",
		"toolArgs": {}, "description": "Tool description", "agentName": "Agent Name" } }`)
	h.Receive(`{ "type": "approve_tool", "conversationId": "uuid", "requestId": "uuid", "payload": { "approved": true, "reason": "optional rejection reason" } }`)
	h.WantSent()
	h.Emit(protocol.ToolEnded, protocol.ToolEndedData{Tool: "k", Status: protocol.ToolCompleted})
	h.WantSent(`{ "type": "tool_executed", "conversationId": "uuid", "payload": { "requestId": "uuid", "toolName": "Tool Name", "result": {},
		"success": true } }`)

	h.Emit(protocol.TurnEnded, protocol.TurnEndedData{
		Reason: protocol.ReasonCompleted, Usage: &protocol.Usage{Output: 150}, DurationMS: 2500,
	})
	h.WantSent(`{ "type": "message_complete", "conversationId": "uuid", "payload": { "messageId": "uuid", "content": "partial text",
		"agentName": "Agent Name", "metadata": { "tokenCount": 150, "durationMs": 2500 } } }`)

	got := string(wire.NewError("uuid", "error_code", "Error message").Encode().Data)
	want := multiagenttest.CompactJSON(`{ "type": "error", "conversationId": "uuid", "error": "Error message", "payload": { "code": "error_code", "message": "Error message" } }`)
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// MA-8, MA-9: the chunks joined in order are the content.
func TestAMessageStreamsAndIsRepeatedWhole(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.Receive(`{ "type": "send_message", "conversationId": "uuid", "payload": { "content": "Hello, help me with..." } }`)
	if len(h.Commands) != 1 || h.Commands[0].Command != protocol.DoSend ||
		!strings.Contains(string(h.Commands[0].Data), "Hello, help me with...") {
		t.Fatalf("%v", h.Commands)
	}
	task := func(typ protocol.Type, data any) { h.EmitEntry(codec.Entry{Type: typ, Task: "1", Data: data}) }
	h.Emit(protocol.TextDelta, protocol.PartDeltaData{Part: "a", Text: "one "})
	task(protocol.TextDelta, protocol.PartDeltaData{Part: "x", Text: "of a "})
	h.Emit(protocol.TextDelta, protocol.PartDeltaData{Part: "a", Text: "two"})
	task(protocol.TextDelta, protocol.PartDeltaData{Part: "x", Text: "task"})
	task(protocol.TextEnd, protocol.PartEndData{Part: "x"})
	h.Emit(protocol.JoinedDeltas, protocol.JoinedData{Parts: []protocol.JoinedPart{
		{Part: "b", Kind: protocol.KindText, Text: "three"}, {Part: "r", Kind: protocol.KindReasoning, Text: "hm"},
	}})
	h.Emit(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	joined, content := "", ""
	for _, f := range h.TakeSent() {
		m := wire.DecodeMessage([]byte(f))
		switch m.Type() {
		case wire.TypeChunk:
			joined += m.Payload().Text("chunk")
		case wire.TypeComplete:
			content = m.Payload().Text("content")
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
	h.Receive(`{ "type": "cancel_stream", "conversationId": "uuid" }`)
	h.WantSent(`{"type":"error","conversationId":"uuid","error":"No active stream","payload":{"code":"not_found","message":"No active stream"}}`)
	h.Receive(`{"type":"send_message","conversationId":"uuid","payload":{"content":"go"}}`)
	h.Receive(`{ "type": "cancel_stream", "conversationId": "uuid" }`)
	h.WantSent(`{"type":"error","conversationId":"uuid","error":"Stream cancelled","payload":{"code":"cancelled","message":"Stream cancelled"}}`)
}

// a message during a turn is queued, and the turn continues.
func TestASecondMessageIsQueued(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.Receive(`{"type":"send_message","conversationId":"uuid","payload":{"content":"one"}}`)
	h.Receive(`{"type":"send_message","conversationId":"uuid","payload":{"content":"two"}}`)
	h.WantSent(`{"type":"workflow_thought","payload":{"agentId":"queue","agentName":"queue","conversationId":"uuid","reason":"queued: it comes next"}}`)
	h.Emit(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	if h.Log.State.Turn == nil || h.Log.State.Turn.Message.Text != "two" {
		t.Error("the second message did not start")
	}
}

// MA-14: a rejected tool is executed without success, and only the client that rejected it gets the
// error.
func TestReject(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.UseConversation()
	h.StartTurn("t")
	h.Emit(protocol.ApprovalRequested, protocol.Approval{
		Request: "r", Kind: protocol.ApproveCommand, Tool: "k", Title: "rm", Command: "rm -rf build",
	})
	h.WantSent(`{"type":"tool_approval_required","conversationId":"uuid","payload":{"requestId":"r","toolName":"command","toolArgs":{"command":"rm -rf build"},"description":"rm\nrm -rf build","agentName":"Agent Name"}}`)
	h.Receive(`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":false,"reason":"nope"}}`)
	h.Emit(protocol.ToolEnded, protocol.ToolEndedData{Tool: "k", Status: protocol.ToolDenied})
	h.WantSent(
		`{"type":"tool_executed","conversationId":"uuid","payload":{"requestId":"r","toolName":"command","result":null,"success":false,"errorMessage":"nope"}}`,
		`{"type":"error","conversationId":"uuid","error":"nope","payload":{"code":"rejected","message":"nope"}}`,
	)
	h.Emit(protocol.ApprovalRequested, protocol.Approval{Request: "without a reason", Kind: protocol.ApproveCommand})
	h.TakeSent()
	h.Receive(`{"type":"approve_tool","conversationId":"uuid","requestId":"without a reason","payload":{"approved":false}}`)
	if sent := h.TakeSent(); len(sent) == 0 ||
		sent[len(sent)-1] != `{"type":"error","conversationId":"uuid","error":"Tool rejected","payload":{"code":"rejected","message":"Tool rejected"}}` {
		t.Errorf("rejected without a reason: %s", sent)
	}
	h.Receive(`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":true}}`)
	h.Receive(`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":false}}`)
	h.WantSent(
		`{"type":"error","conversationId":"uuid","error":"grace has already decided","payload":{"code":"tool_execute_failed","message":"grace has already decided"}}`,
		`{"type":"error","conversationId":"uuid","error":"grace has already decided","payload":{"code":"tool_reject_failed","message":"grace has already decided"}}`,
	)
}

// The rejecting client gets tool_executed first, also if its answer precedes the event.
func TestARejectionIsConfirmedAfterItsTool(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.UseConversation()
	h.StartTurn("t")
	h.Emit(protocol.ApprovalRequested, protocol.Approval{Request: "r", Kind: "tool", Tool: "k", Name: "rm"})
	h.TakeSent()
	h.Answer = func(out *codec.Output, c *protocol.Command) bool {
		h.Responder.Answer(out, c, protocol.ApproveResult{Request: "r", Outcome: protocol.Denied})
		return true
	}
	h.Receive(`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":false,"reason":"nope"}}`)
	h.WantSent()
	h.Emit(protocol.ApprovalResolved, protocol.ApprovalResolvedData{
		Request: "r", Outcome: protocol.Denied, Decision: protocol.Deny, Reason: "nope",
	})
	h.WantSent(
		`{"type":"tool_executed","conversationId":"uuid","payload":{"requestId":"r","toolName":"rm","result":null,"success":false,"errorMessage":"nope"}}`,
		`{"type":"error","conversationId":"uuid","error":"nope","payload":{"code":"rejected","message":"nope"}}`,
	)
}

func TestNoRequestStaysOpen(t *testing.T) {
	for _, c := range []struct {
		name string
		a    protocol.Approval
		end  func(*multiagenttest.Server)
		why  string
	}{
		{"expired", protocol.Approval{Request: "r", Kind: "tool", Tool: "k"}, func(h *multiagenttest.Server) {
			h.Emit(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: "r", Outcome: protocol.Expired})
		}, `"success":false,"errorMessage":"expired"`},
		{"allowed by another, no tool", protocol.Approval{Request: "r", Kind: "plan"}, func(h *multiagenttest.Server) {
			h.Emit(protocol.ApprovalResolved, protocol.ApprovalResolvedData{
				Request: "r", Outcome: protocol.Allowed, Decision: protocol.AllowOnce,
			})
		}, `"result":{"decision":"allow_once"},"success":true`},
		{"the turn ends", protocol.Approval{Request: "r", Kind: "tool", Tool: "k"}, func(h *multiagenttest.Server) {
			h.Emit(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonError, Message: "broke"})
		}, `"success":false,"errorMessage":"the turn ended"`},
	} {
		h := newServerTest(t, codec.ServerOptions{})
		h.UseConversation()
		h.StartTurn("t")
		h.Emit(protocol.ApprovalRequested, c.a)
		h.TakeSent()
		c.end(h)
		if got := h.TakeSent(); len(got) == 0 || !strings.Contains(got[0], c.why) ||
			!strings.Contains(got[0], `"requestId":"r"`) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// MA-15 to MA-17, X-18: an invalid message gets an error, and the connection stays open.
func TestBadInput(t *testing.T) {
	for _, c := range []struct{ frame, code, message string }{
		{`nonsense`, wire.CodeBadRequest, "a message is a JSON object with a type"},
		{`[1,2]`, wire.CodeBadRequest, "a message is a JSON object with a type"},
		{`{}`, wire.CodeBadRequest, "a message is a JSON object with a type"},
		{`{"type":7}`, wire.CodeBadRequest, "a message is a JSON object with a type"},
		{`{"type":"bogus"}`, "", "Unknown event type: bogus"},
		{`{"type":"start_conversation"}`, wire.CodeBadRequest, "domainId is required"},
		{`{"type":"start_conversation","payload":{"domainId":5}}`, wire.CodeBadRequest, "domainId is required"},
		{`{"type":"send_message","payload":{"content":"x"}}`, wire.CodeBadRequest, "conversationId is required"},
		{`{"type":"send_message","conversationId":"uuid","payload":{}}`, wire.CodeBadRequest, "content is required"},
		{`{"type":"send_message","conversationId":"uuid","payload":"x"}`, wire.CodeBadRequest, "content is required"},
		{
			`{"type":"send_message","conversationId":"nobody","payload":{"content":"x"}}`, wire.CodeNotFound,
			`no session is called "nobody"`,
		},
		{`{"type":"cancel_stream"}`, wire.CodeNotFound, "No active stream"},
		{`{"type":"cancel_stream","conversationId":"nobody"}`, wire.CodeNotFound, `no session is called "nobody"`},
		{
			`{"type":"approve_tool","conversationId":"uuid","payload":{"approved":true}}`, wire.CodeNotFound,
			"Unknown requestId",
		},
		{
			`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{}}`, wire.CodeBadRequest,
			"approved is required",
		},
		{
			`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":"yes"}}`, wire.CodeBadRequest,
			"approved is required",
		},
	} {
		h := newServerTest(t, codec.ServerOptions{})
		h.Receive(c.frame)
		h.Receive(`{"type":"PING"}`)
		got := h.TakeSent()
		if len(got) != 2 || got[1] != `{"type":"PONG"}` {
			t.Fatalf("%s: %v", c.frame, got)
		}
		m := wire.DecodeMessage([]byte(got[0]))
		if m.Type() != wire.TypeError || m.Text("error") != c.message || m.Payload().Text("code") != c.code ||
			c.code != "" && m.Payload().Text("message") != c.message {
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
			h.UseConversation()
			h.StartTurn("t")
			h.Emit(protocol.ApprovalRequested, protocol.Approval{Request: "r", Kind: protocol.ApproveTool, Name: "rm"})
			h.TakeSent()
			h.Receive(frame)
			sent := strings.Join(h.TakeSent(), "")
			may := rank >= slices.Index(roles, least)
			if refused := strings.Contains(sent, `"code":"forbidden"`); refused == may || !may && len(h.Commands) > 0 {
				t.Errorf("%q %s: %s", role, frame, sent)
			}
			h.Receive(`{"type":"PING"}`)
			h.WantSent(`{"type":"PONG"}`) // the connection stays open
		}
	}
}

// MA-21: a message that names a conversation resumes it, with the current turn so far.
func TestAMessageResumesAConversation(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.StartTurn("t")
	h.Emit(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "so far"})
	h.Emit(protocol.ApprovalRequested, protocol.Approval{
		Request: "r", Kind: "tool", Name: "shell", Tool: "k", Title: "ls",
	})
	h.Receive(`{"type":"approve_tool","conversationId":"uuid","requestId":"other","payload":{"approved":true}}`)
	got := strings.Join(h.TakeSent(), "\n")
	for _, want := range []string{`"chunk":"so far"`, `"requestId":"r"`, `tool_execute_failed`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestOneSessionUnderTwoNamesIsSentOnce(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.UseConversation()
	h.StartTurn("t")
	h.Emit(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "once"})
	h.Receive(`{"type":"send_message","conversationId":"alias","payload":{"content":"more"}}`)
	h.Emit(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: " only"})
	chunks := ""
	for _, f := range h.TakeSent() {
		if m := wire.DecodeMessage([]byte(f)); m.Type() == wire.TypeChunk {
			chunks += m.Payload().Text("chunk")
		}
	}
	if chunks != "once only" {
		t.Errorf("%q", chunks)
	}
}

func TestReasoningIsSentOnRequest(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	think := func() {
		h.Emit(protocol.ReasoningStart, protocol.PartStartData{Part: "r", Agent: "planner"})
		h.Emit(protocol.ReasoningDelta, protocol.PartDeltaData{Part: "r", Text: "hm"})
		h.Emit(protocol.ReasoningEnd, protocol.PartEndData{Part: "r"})
		h.Emit(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	}
	h.Receive(`{"type":"send_message","conversationId":"uuid","payload":{"content":"x"}}`)
	think()
	if got := h.TakeSent(); len(got) != 1 {
		t.Errorf("%v", got)
	}
	h.Receive(`{"type":"send_message","conversationId":"uuid","payload":{"content":"x","enableThinking":true}}`)
	think()
	if got := h.TakeSent(); len(got) != 2 ||
		got[0] != `{"type":"workflow_thought","payload":{"agentId":"planner","agentName":"planner","conversationId":"uuid","reason":"hm"}}` {
		t.Errorf("%v", got)
	}
}

func TestHowATurnEnds(t *testing.T) {
	for reason, code := range map[protocol.Reason]string{
		protocol.ReasonInterrupted: wire.CodeCancelled, protocol.ReasonDenied: wire.CodeCancelled, protocol.ReasonError: wire.CodeStreamError,
		protocol.ReasonTimeout: wire.CodeStreamError, protocol.ReasonRefusal: wire.CodeStreamError, protocol.ReasonMaxTokens: wire.CodeStreamError,
	} {
		h := newServerTest(t, codec.ServerOptions{})
		h.UseConversation()
		h.StartTurn("t")
		h.Emit(protocol.TurnEnded, protocol.TurnEndedData{Reason: reason})
		if got := h.TakeSent(); len(got) != 1 || wire.DecodeMessage([]byte(got[0])).Payload().Text("code") != code {
			t.Errorf("%s: %v", reason, got)
		}
	}
}

// A PING that names a conversation resumes it, with its pending approvals.
func TestAPingResumesAConversation(t *testing.T) {
	h := newServerTest(t, codec.ServerOptions{})
	h.StartTurn("t")
	h.Emit(protocol.ApprovalRequested, protocol.Approval{
		Request: "r", Kind: protocol.ApproveTool, Name: "n", Title: "d", Input: json.RawMessage(`{}`),
	})
	h.WantSent()
	h.Receive(`{"type":"PING","conversationId":"uuid"}`)
	h.WantSent(`{"type":"PONG"}`, `{"type":"tool_approval_required","conversationId":"uuid","payload":{"requestId":"r","toolName":"n","toolArgs":{},
		"description":"d","agentName":"Agent Name"}}`)
}
