package multiagent

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// MA-5 to MA-7, MA-9, MA-10, MA-12, MA-14: what our server says is what the document shows.
func TestTheServersExamplesOfTheDocument(t *testing.T) {
	h := newHost(t, codec.ServerOptions{})
	h.says(`{ "type": "PING" }`)
	h.wants(`{ "type": "PONG" }`)
	h.says(`{ "type": "start_conversation", "payload": { "domainId": "software_development" } }`)
	h.wants(`{ "type": "conversation_started", "payload": { "conversationId": "uuid", "domainId": "software_development", "activeAgent": "agent_id" } }`)
	if len(h.did) != 1 || string(h.did[0].Data) != `{"agent":"software_development"}` {
		t.Fatalf("%v", h.did)
	}

	h.turn("uuid")
	h.happens(protocol.TextStart, protocol.PartStartData{Part: "p"})
	h.happens(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "partial text"})
	h.wants(`{ "type": "message_chunk", "conversationId": "uuid", "payload": {
		"messageId": "uuid", "chunk": "partial text", "agentName": "Agent Name" } }`)

	h.happens(protocol.ToolStarted, protocol.ToolStartedData{Tool: "k", Name: "Tool Name"})
	h.happens(protocol.ApprovalRequested, protocol.Approval{
		Request: "uuid", Kind: protocol.ApproveTool, Tool: "k", Name: "Tool Name", Title: "Tool description", Input: json.RawMessage(`{}`),
	})
	h.wants(`{ "type": "tool_approval_required", "conversationId": "uuid", "payload": { "requestId": "uuid", "toolName": "Tool Name",
		"toolArgs": {}, "description": "Tool description", "agentName": "Agent Name" } }`)
	h.says(`{ "type": "approve_tool", "conversationId": "uuid", "requestId": "uuid", "payload": { "approved": true, "reason": "optional rejection reason" } }`)
	h.wants()
	h.happens(protocol.ToolEnded, protocol.ToolEndedData{Tool: "k", Status: protocol.ToolCompleted})
	h.wants(`{ "type": "tool_executed", "conversationId": "uuid", "payload": { "requestId": "uuid", "toolName": "Tool Name", "result": {},
		"success": true, "errorMessage": null } }`)

	h.happens(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted, Usage: &protocol.Usage{Output: 150}, DurationMS: 2500})
	h.wants(`{ "type": "message_complete", "conversationId": "uuid", "payload": { "messageId": "uuid", "content": "partial text",
		"agentName": "Agent Name", "metadata": { "tokenCount": 150, "durationMs": 2500 } } }`)

	got := string(errorFrame("uuid", "error_code", "Error message").encode().Data)
	want := compact(`{ "type": "error", "conversationId": "uuid", "error": "Error message", "payload": { "code": "error_code", "message": "Error message" } }`)
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// MA-8, MA-9: the chunks in order join to the content.
func TestAMessageStreamsAndIsRepeatedWhole(t *testing.T) {
	h := newHost(t, codec.ServerOptions{})
	h.says(`{ "type": "send_message", "conversationId": "uuid", "payload": { "content": "Hello, help me with..." } }`)
	if len(h.did) != 1 || h.did[0].Command != protocol.DoSend || !strings.Contains(string(h.did[0].Data), "Hello, help me with...") {
		t.Fatalf("%v", h.did)
	}
	task := func(typ protocol.Type, data any) { h.entry(codec.Entry{Type: typ, Task: "1", Data: data}) }
	h.happens(protocol.TextDelta, protocol.PartDeltaData{Part: "a", Text: "one "})
	task(protocol.TextDelta, protocol.PartDeltaData{Part: "x", Text: "of a "})
	h.happens(protocol.TextDelta, protocol.PartDeltaData{Part: "a", Text: "two"})
	task(protocol.TextDelta, protocol.PartDeltaData{Part: "x", Text: "task"})
	task(protocol.TextEnd, protocol.PartEndData{Part: "x"})
	h.happens(protocol.JoinedDeltas, protocol.JoinedData{Parts: []protocol.JoinedPart{
		{Part: "b", Kind: protocol.KindText, Text: "three"}, {Part: "r", Kind: protocol.KindReasoning, Text: "hm"},
	}})
	h.happens(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	joined, content := "", ""
	for _, f := range h.takes() {
		m := hear([]byte(f))
		switch m.kind() {
		case typeChunk:
			joined += m.body().text("chunk")
		case typeComplete:
			content = m.body().text("content")
		default:
			t.Errorf("unexpected %s", f)
		}
	}
	if want := "one two\n\nof a task\n\nthree"; joined != want || content != want {
		t.Errorf("chunks %q, content %q, want %q", joined, content, want)
	}
}

// MA-11: a cancelled stream is an error of its own; without one there is nothing to cancel.
func TestCancel(t *testing.T) {
	h := newHost(t, codec.ServerOptions{})
	h.says(`{ "type": "cancel_stream", "conversationId": "uuid" }`)
	h.wants(`{"type":"error","conversationId":"uuid","error":"No active stream","payload":{"code":"not_found","message":"No active stream"}}`)
	h.says(`{"type":"send_message","conversationId":"uuid","payload":{"content":"go"}}`)
	h.says(`{ "type": "cancel_stream", "conversationId": "uuid" }`)
	h.wants(`{"type":"error","conversationId":"uuid","error":"Stream cancelled","payload":{"code":"cancelled","message":"Stream cancelled"}}`)
}

// a message during a turn waits; the running turn is not touched.
func TestASecondMessageIsQueued(t *testing.T) {
	h := newHost(t, codec.ServerOptions{})
	h.says(`{"type":"send_message","conversationId":"uuid","payload":{"content":"one"}}`)
	h.says(`{"type":"send_message","conversationId":"uuid","payload":{"content":"two"}}`)
	h.wants(`{"type":"workflow_thought","payload":{"agentId":"queue","agentName":"queue","conversationId":"uuid","reason":"queued: it comes next"}}`)
	h.happens(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	if h.log.State.Turn == nil || h.log.State.Turn.Message.Text != "two" {
		t.Error("the second message did not start")
	}
}

// MA-14: a rejected tool is executed without success, and only who rejected it gets the error.
func TestReject(t *testing.T) {
	h := newHost(t, codec.ServerOptions{})
	h.used()
	h.turn("t")
	h.happens(protocol.ApprovalRequested, protocol.Approval{Request: "r", Kind: protocol.ApproveCommand, Tool: "k", Title: "rm", Command: "rm -rf build"})
	h.wants(`{"type":"tool_approval_required","conversationId":"uuid","payload":{"requestId":"r","toolName":"command","toolArgs":{"command":"rm -rf build"},"description":"rm\nrm -rf build","agentName":"Agent Name"}}`)
	h.says(`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":false,"reason":"nope"}}`)
	h.happens(protocol.ToolEnded, protocol.ToolEndedData{Tool: "k", Status: protocol.ToolDenied})
	h.wants(
		`{"type":"tool_executed","conversationId":"uuid","payload":{"requestId":"r","toolName":"command","result":null,"success":false,"errorMessage":"nope"}}`,
		`{"type":"error","conversationId":"uuid","error":"nope","payload":{"code":"rejected","message":"nope"}}`,
	)
	h.happens(protocol.ApprovalRequested, protocol.Approval{Request: "without a reason", Kind: protocol.ApproveCommand})
	h.takes()
	h.says(`{"type":"approve_tool","conversationId":"uuid","requestId":"without a reason","payload":{"approved":false}}`)
	if told := h.takes(); len(told) == 0 || told[len(told)-1] != `{"type":"error","conversationId":"uuid","error":"Tool execution rejected","payload":{"code":"rejected","message":"Tool execution rejected"}}` {
		t.Errorf("rejected without a reason: %s", told)
	}
	h.says(`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":true}}`)
	h.says(`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":false}}`)
	h.wants(
		`{"type":"error","conversationId":"uuid","error":"grace has already decided","payload":{"code":"tool_execute_failed","message":"grace has already decided"}}`,
		`{"type":"error","conversationId":"uuid","error":"grace has already decided","payload":{"code":"tool_reject_failed","message":"grace has already decided"}}`,
	)
}

func TestNoRequestStaysOpen(t *testing.T) {
	for _, c := range []struct {
		name string
		a    protocol.Approval
		end  func(*host)
		why  string
	}{
		{"expired", protocol.Approval{Request: "r", Kind: "tool", Tool: "k"}, func(h *host) {
			h.happens(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: "r", Outcome: protocol.Expired})
		}, `"success":false,"errorMessage":"expired"`},
		{"allowed by another, no tool", protocol.Approval{Request: "r", Kind: "plan"}, func(h *host) {
			h.happens(protocol.ApprovalResolved, protocol.ApprovalResolvedData{Request: "r", Outcome: protocol.Allowed, Decision: protocol.AllowOnce})
		}, `"result":{"decision":"allow_once"},"success":true`},
		{"the turn ends", protocol.Approval{Request: "r", Kind: "tool", Tool: "k"}, func(h *host) {
			h.happens(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonError, Message: "broke"})
		}, `"success":false,"errorMessage":"the turn ended"`},
	} {
		h := newHost(t, codec.ServerOptions{})
		h.used()
		h.turn("t")
		h.happens(protocol.ApprovalRequested, c.a)
		h.takes()
		c.end(h)
		if got := h.takes(); len(got) == 0 || !strings.Contains(got[0], c.why) || !strings.Contains(got[0], `"requestId":"r"`) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// MA-15 to MA-17, X-18: what is wrong is told, and the connection goes on.
func TestBadInput(t *testing.T) {
	for _, c := range []struct{ frame, code, message string }{
		{`nonsense`, badRequest, "a message is a JSON object with a type"},
		{`[1,2]`, badRequest, "a message is a JSON object with a type"},
		{`{}`, badRequest, "a message is a JSON object with a type"},
		{`{"type":7}`, badRequest, "a message is a JSON object with a type"},
		{`{"type":"bogus"}`, badRequest, "Unknown event type: bogus"},
		{`{"type":"start_conversation"}`, badRequest, "domainId is required"},
		{`{"type":"start_conversation","payload":{"domainId":5}}`, badRequest, "domainId is required"},
		{`{"type":"send_message","payload":{"content":"x"}}`, badRequest, "conversationId is required"},
		{`{"type":"send_message","conversationId":"uuid","payload":{}}`, badRequest, "content is required"},
		{`{"type":"send_message","conversationId":"uuid","payload":"x"}`, badRequest, "content is required"},
		{`{"type":"send_message","conversationId":"nobody","payload":{"content":"x"}}`, notFound, `no session is called "nobody"`},
		{`{"type":"cancel_stream"}`, badRequest, "conversationId is required"},
		{`{"type":"cancel_stream","conversationId":"nobody"}`, notFound, `no session is called "nobody"`},
		{`{"type":"approve_tool","conversationId":"uuid","payload":{"approved":true}}`, badRequest, "requestId is required"},
		{`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{}}`, badRequest, "approved is required"},
		{`{"type":"approve_tool","conversationId":"uuid","requestId":"r","payload":{"approved":"yes"}}`, badRequest, "approved is required"},
	} {
		h := newHost(t, codec.ServerOptions{})
		h.says(c.frame)
		h.says(`{"type":"PING"}`)
		got := h.takes()
		if len(got) != 2 || got[1] != `{"type":"PONG"}` {
			t.Fatalf("%s: %v", c.frame, got)
		}
		m := hear([]byte(got[0]))
		if m.kind() != typeError || m.text("error") != c.message || m.body().text("code") != c.code || m.body().text("message") != c.message {
			t.Errorf("%s: %s", c.frame, got[0])
		}
	}
}

// MA-16, MA-17, X-23: a user may not approve, and an observer nothing but look.
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
		for rank, role := range append(roles, "") { // no role is everything
			h := newHost(t, codec.ServerOptions{Role: role})
			h.says(frame)
			said := strings.Join(h.takes(), "")
			may := rank >= slices.Index(roles, least)
			if refused := strings.Contains(said, `"code":"forbidden"`); refused == may || !may && len(h.did) > 0 {
				t.Errorf("%q %s: %s", role, frame, said)
			}
			h.says(`{"type":"PING"}`)
			h.wants(`{"type":"PONG"}`) // the connection lives on
		}
	}
}

// MA-21: any message that names a conversation takes it up again, with what its turn said so far.
func TestAConversationIsTakenUpAgain(t *testing.T) {
	h := newHost(t, codec.ServerOptions{})
	h.turn("t")
	h.happens(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "so far"})
	h.happens(protocol.ApprovalRequested, protocol.Approval{Request: "r", Kind: "tool", Name: "shell", Tool: "k", Title: "ls"})
	h.says(`{"type":"approve_tool","conversationId":"uuid","requestId":"other","payload":{"approved":true}}`)
	got := strings.Join(h.takes(), "\n")
	for _, want := range []string{`"chunk":"so far"`, `"requestId":"r"`, `tool_execute_failed`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestOneSessionUnderTwoNamesIsToldOnce(t *testing.T) {
	h := newHost(t, codec.ServerOptions{})
	h.used()
	h.turn("t")
	h.happens(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "once"})
	h.says(`{"type":"send_message","conversationId":"alias","payload":{"content":"more"}}`)
	h.happens(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: " only"})
	chunks := ""
	for _, f := range h.takes() {
		if m := hear([]byte(f)); m.kind() == typeChunk {
			chunks += m.body().text("chunk")
		}
	}
	if chunks != "once only" {
		t.Errorf("%q", chunks)
	}
}

func TestReasoningIsForWhoAsksForIt(t *testing.T) {
	h := newHost(t, codec.ServerOptions{})
	think := func() {
		h.happens(protocol.ReasoningStart, protocol.PartStartData{Part: "r", Agent: "planner"})
		h.happens(protocol.ReasoningDelta, protocol.PartDeltaData{Part: "r", Text: "hm"})
		h.happens(protocol.ReasoningEnd, protocol.PartEndData{Part: "r"})
		h.happens(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted})
	}
	h.says(`{"type":"send_message","conversationId":"uuid","payload":{"content":"x"}}`)
	think()
	if got := h.takes(); len(got) != 1 {
		t.Errorf("%v", got)
	}
	h.says(`{"type":"send_message","conversationId":"uuid","payload":{"content":"x","enableThinking":true}}`)
	think()
	if got := h.takes(); len(got) != 2 || got[0] != `{"type":"workflow_thought","payload":{"agentId":"planner","agentName":"planner","conversationId":"uuid","reason":"hm"}}` {
		t.Errorf("%v", got)
	}
}

func TestHowATurnEnds(t *testing.T) {
	for reason, code := range map[protocol.Reason]string{
		protocol.ReasonInterrupted: cancelled, protocol.ReasonDenied: cancelled, protocol.ReasonError: streamError,
		protocol.ReasonTimeout: streamError, protocol.ReasonRefusal: streamError, protocol.ReasonMaxTokens: streamError,
	} {
		h := newHost(t, codec.ServerOptions{})
		h.used()
		h.turn("t")
		h.happens(protocol.TurnEnded, protocol.TurnEndedData{Reason: reason})
		if got := h.takes(); len(got) != 1 || hear([]byte(got[0])).body().text("code") != code {
			t.Errorf("%s: %v", reason, got)
		}
	}
}

// A PING that names a conversation takes it up: what is pending is told at once.
func TestAPingTakesAConversationUp(t *testing.T) {
	h := newHost(t, codec.ServerOptions{})
	h.turn("t")
	h.happens(protocol.ApprovalRequested, protocol.Approval{Request: "r", Kind: protocol.ApproveTool, Name: "n", Title: "d", Input: json.RawMessage(`{}`)})
	h.wants()
	h.says(`{"type":"PING","conversationId":"uuid"}`)
	h.wants(`{"type":"PONG"}`, `{"type":"tool_approval_required","conversationId":"uuid","payload":{"requestId":"r","toolName":"n","toolArgs":{},
		"description":"d","agentName":"Agent Name"}}`)
}
