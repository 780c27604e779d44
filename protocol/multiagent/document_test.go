package multiagent

import (
	"slices"
	"testing"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// The examples of the document, as it writes them.
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

// MA-5 to MA-15: every example of the document is what our server says or understands, and what our client understands or says, byte for
// byte but for the space between.
func TestEveryExampleOfTheDocument(t *testing.T) {
	for example, server := range map[string]func(*host){
		pongExample:    func(h *host) { h.says(pingExample) },
		startedExample: func(h *host) { h.says(startExample) },
		chunkExample: func(h *host) {
			h.turn("uuid")
			h.happens(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "partial text"})
		},
		completeExample: func(h *host) {
			h.turn("uuid")
			h.happens(protocol.TextDelta, protocol.PartDeltaData{Part: "p", Text: "full response text"})
			h.takes()
			h.happens(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonCompleted, Usage: &protocol.Usage{Output: 150}, DurationMS: 2500})
		},
		askExample: func(h *host) {
			h.turn("uuid")
			h.happens(protocol.ApprovalRequested, protocol.Approval{
				Request: "uuid", Kind: protocol.ApproveTool, Name: "Tool Name", Title: "Tool description", Input: []byte("{}"),
			})
		},
		executedExample: func(h *host) {
			h.turn("uuid")
			h.happens(protocol.ToolStarted, protocol.ToolStartedData{Tool: "uuid", Name: "Tool Name"})
			h.happens(protocol.ToolEnded, protocol.ToolEndedData{Tool: "uuid", Status: protocol.ToolCompleted, Output: []byte("{}")})
		},
		errorExample: func(h *host) {
			h.codec.out = &codec.Output{}
			h.codec.fail("uuid", "error_code", "Error message")
			h.do(*h.codec.out)
		},
	} {
		h := newHost(t, codec.ServerOptions{})
		h.used()
		server(h)
		h.wants(example)
	}
	for example, heard := range map[string]protocol.Verb{
		startExample: protocol.DoCreate, sendExample: protocol.DoSend, cancelExample: protocol.DoInterrupt, approveExample: protocol.DoApprove,
	} {
		h := newHost(t, codec.ServerOptions{})
		h.used()
		h.says(example)
		if len(h.did) != 1 || h.did[0].Command != heard {
			t.Errorf("our server does %v for %s", h.did, example)
		}
	}
	for example, says := range map[string]func(*caller){
		pingExample:   func(c *caller) { c.asks(protocol.DoPing, "", nil) },
		startExample:  func(c *caller) { c.asks(protocol.DoCreate, "", protocol.CreateData{Agent: "software_development"}) },
		sendExample:   func(c *caller) { c.asks(protocol.DoSend, "uuid", protocol.SendData{Text: "Hello, help me with..."}) },
		cancelExample: func(c *caller) { c.asks(protocol.DoInterrupt, "uuid", nil) },
		approveExample: func(c *caller) {
			c.asks(protocol.DoApprove, "uuid", protocol.ApproveData{Request: "uuid", Decision: protocol.AllowOnce, Reason: "optional rejection reason"})
		},
	} {
		c := newCaller(t, nil)
		c.follows()
		says(c)
		c.wants(example)
	}
	for example, means := range map[string][]protocol.Type{
		chunkExample:    {protocol.MessageUser, protocol.TurnStarted, protocol.TextStart, protocol.TextDelta},
		completeExample: {protocol.MessageUser, protocol.TurnStarted, protocol.TextStart, protocol.TextDelta, protocol.TextEnd, protocol.TurnEnded},
		askExample:      {protocol.MessageUser, protocol.TurnStarted, protocol.ToolStarted, protocol.ApprovalRequested},
		executedExample: {protocol.MessageUser, protocol.TurnStarted, protocol.ToolStarted, protocol.ToolEnded},
		errorExample:    {protocol.Raw}, // nothing is under way that it could be about
		pongExample:     nil,
		startedExample:  {protocol.Raw}, // nobody asked for one
	} {
		c := newCaller(t, nil)
		c.follows()
		before := len(c.events)
		c.says(example)
		var got []protocol.Type
		for _, e := range c.events[before:] {
			got = append(got, e.Type)
		}
		if !slices.Equal(got, means) {
			t.Errorf("our client makes %v of %s", got, example)
		}
	}
}
