package multiagent

import (
	"slices"
	"strings"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// The examples of the document, verbatim.
const (
	pingExample  = `{ "type": "PING" }`
	startExample = `{
  "type": "start_conversation",
  "payload": {
    "domainId": "software_development"
  }
}`
	startedExample = `{
  "type": "conversation_started",
  "payload": {
    "conversationId": "uuid",
    "domainId": "software_development",
    "activeAgent": "agent_id"
  }
}`
	sendExample = `{
  "type": "send_message",
  "conversationId": "uuid",
  "payload": {
    "content": "Hello, help me with..."
  }
}`
	cancelExample = `{
  "type": "cancel_stream",
  "conversationId": "uuid"
}`
	approveExample = `{
  "type": "approve_tool",
  "conversationId": "uuid",
  "requestId": "uuid",
  "payload": {
    "approved": true,
    "reason": "optional rejection reason"
  }
}`
	pongExample  = `{ "type": "PONG" }`
	chunkExample = `{
  "type": "message_chunk",
  "conversationId": "uuid",
  "payload": {
    "messageId": "uuid",
    "chunk": "partial text",
    "agentName": "Agent Name"
  }
}`
	completeExample = `{
  "type": "message_complete",
  "conversationId": "uuid",
  "payload": {
    "messageId": "uuid",
    "content": "full response text",
    "agentName": "Agent Name",
    "metadata": {
      "tokenCount": 150,
      "durationMs": 2500
    }
  }
}`
	askExample = `{
  "type": "tool_approval_required",
  "conversationId": "uuid",
  "payload": {
    "requestId": "uuid",
    "toolName": "Tool Name",
    "toolArgs": {},
    "description": "Tool description",
    "agentName": "Agent Name"
  }
}`
	executedExample = `{
  "type": "tool_executed",
  "conversationId": "uuid",
  "payload": {
    "requestId": "uuid",
    "toolName": "Tool Name",
    "result": {},
    "success": true,
    "errorMessage": null
  }
}`
	errorExample = `{
  "type": "error",
  "conversationId": "uuid",
  "error": "Error message",
  "payload": {
    "code": "error_code",
    "message": "Error message"
  }
}`
)

// executedByServer is the example as agentctl's server sends it: like the real system, it omits the
// error of a tool that succeeded.
var executedByServer = strings.Replace(executedExample, ",\n    \"errorMessage\": null", "", 1)

// MA-5 to MA-15: the server and the client send or accept each example of the document, equal
// except for whitespace.
func TestEveryExampleOfTheDocument(t *testing.T) {
	for example, server := range map[string]func(*serverTest){
		pongExample:    func(h *serverTest) { h.receive(pingExample) },
		startedExample: func(h *serverTest) { h.receive(startExample) },
		chunkExample: func(h *serverTest) {
			h.startTurn("uuid")
			h.emit(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "partial text"})
		},
		completeExample: func(h *serverTest) {
			h.startTurn("uuid")
			h.emit(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "full response text"})
			h.takeSent()
			h.emit(protocol.TurnEnded, protocol.TurnEndedData{
				Reason: protocol.ReasonCompleted, Usage: &protocol.Usage{Output: 150}, DurationMS: 2500,
			})
		},
		askExample: func(h *serverTest) {
			h.startTurn("uuid")
			h.emit(protocol.ApprovalRequested, protocol.Approval{
				Request: "uuid", Kind: protocol.ApproveTool, Name: "Tool Name", Title: "Tool description",
				Input: []byte("{}"),
			})
		},
		executedByServer: func(h *serverTest) {
			h.startTurn("uuid")
			h.emit(protocol.ToolStarted, protocol.ToolStartedData{Tool: "uuid", Name: "Tool Name"})
			h.emit(protocol.ToolEnded, protocol.ToolEndedData{
				Tool: "uuid", Status: protocol.ToolCompleted,
				Output: []byte("{}"),
			})
		},
		errorExample: func(h *serverTest) {
			h.codec.Out = &codec.Output{}
			h.codec.sendError("uuid", "error_code", "Error message")
			h.deliver(*h.codec.Out)
		},
	} {
		h := newServerTest(t, codec.ServerOptions{})
		h.useConversation()
		server(h)
		h.wantSent(example)
	}
	for example, verb := range map[string]protocol.Verb{
		startExample: protocol.DoCreate, sendExample: protocol.DoSend, cancelExample: protocol.DoInterrupt,
		approveExample: protocol.DoApprove,
	} {
		h := newServerTest(t, codec.ServerOptions{})
		h.useConversation()
		h.receive(example)
		if len(h.commands) != 1 || h.commands[0].Command != verb {
			t.Errorf("the server executes %v for %s", h.commands, example)
		}
	}
	for example, act := range map[string]func(*clientTest){
		pingExample: func(c *clientTest) { c.command(protocol.DoPing, "", nil) },
		startExample: func(c *clientTest) {
			c.command(protocol.DoCreate, "", protocol.CreateData{Agent: "software_development"})
		},
		sendExample: func(c *clientTest) {
			c.command(protocol.DoSend, "uuid", protocol.SendData{Text: "Hello, help me with..."})
		},
		cancelExample: func(c *clientTest) { c.command(protocol.DoInterrupt, "uuid", nil) },
		approveExample: func(c *clientTest) {
			c.command(protocol.DoApprove, "uuid", protocol.ApproveData{
				Request: "uuid", Decision: protocol.AllowOnce, Reason: "optional rejection reason",
			})
		},
	} {
		c := newClientTest(t, nil)
		c.subscribe()
		act(c)
		c.wantSent(example)
	}
	for example, want := range map[string][]protocol.Type{
		chunkExample: {protocol.MessageUser, protocol.TurnStarted, protocol.TextStart, protocol.TextDelta},
		completeExample: {
			protocol.MessageUser, protocol.TurnStarted, protocol.TextStart, protocol.TextDelta, protocol.TextEnd,
			protocol.TurnEnded,
		},
		askExample:      {protocol.MessageUser, protocol.TurnStarted, protocol.ToolStarted, protocol.ApprovalRequested},
		executedExample: {protocol.MessageUser, protocol.TurnStarted, protocol.ToolStarted, protocol.ToolEnded},
		errorExample:    {protocol.Notice}, // no turn or request that it could concern
		pongExample:     nil,
		startedExample:  {protocol.Raw}, // unrequested
	} {
		c := newClientTest(t, nil)
		c.subscribe()
		before := len(c.events)
		c.receive(example)
		var got []protocol.Type
		for _, e := range c.events[before:] {
			got = append(got, e.Type)
		}
		if !slices.Equal(got, want) {
			t.Errorf("the client records %v for %s", got, example)
		}
	}
}
