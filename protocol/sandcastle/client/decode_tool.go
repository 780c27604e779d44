package client

import (
	"bytes"
	"encoding/json"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// handleTool handles a chat event of a tool call.
func (c *Conn) handleTool(s *session, e *wire.ChatEvent, raw json.RawMessage) {
	t := s.turn
	id := e.ToolCallID
	if id == "" {
		c.recordRaw(s, t.id, e.Type, raw)
		return
	}
	call := t.tools[id]
	if call == nil {
		call = &tool{parent: e.ParentToolCallID}
		if len(t.tools) < wire.MaxOpen {
			t.tools[id] = call
		}
		c.recordToolName(s, id, call, e, true)
	} else if e.Type == wire.ChatToolInput && c.Options.PeerIsAgentctl && s.isRequestInput(call, e) {
		return
	} else {
		c.recordToolName(s, id, call, e, false)
	}
	en := codec.Entry{Turn: t.id, Parent: call.parent}
	switch e.Type {
	case wire.ChatToolInputDelta:
		if e.InputTextDelta == nil {
			return
		}
		en.Type = protocol.ToolInput
		for _, piece := range protocol.SplitText(*e.InputTextDelta, protocol.MaxText) {
			en.Data = protocol.ToolInputData{Tool: id, Text: piece}
			c.record(s, en)
		}
	case wire.ChatToolInput:
		c.recordToolInput(s, id, call, e.Input)
	case wire.ChatToolOutput:
		if e.Preliminary {
			c.recordToolOutput(s, id, call, e.Output)
			return
		}
		var answers map[string][]string
		if text, ok := blockText(e.Output); ok && !c.Options.PeerIsAgentctl {
			if answers = answersIn(call.name, text); answers != nil {
				text = describeAnswers(call.input, answers)
			}
			e.Output = protocol.AppendString(nil, text)
		}
		c.recordDecision(s, id, e.Approval, answers)
		c.recordToolEnded(s, id, call, protocol.ToolEndedData{
			Status: protocol.ToolCompleted, Output: c.finalOutput(s, id, call, e.Output),
		})
	case wire.ChatToolOutputError, wire.ChatToolInputError:
		if e.Type == wire.ChatToolInputError && e.Input != nil { // the invalid input
			c.recordToolInput(s, id, call, e.Input)
		}
		d := protocol.ToolEndedData{Status: protocol.ToolFailed}
		if e.ErrorText != nil {
			d.Error = *e.ErrorText
		}
		if text, ok := blockText([]byte(d.Error)); ok && !c.Options.PeerIsAgentctl {
			d.Error = text
		}
		if d.Error == string(protocol.ToolCancelled) || d.Error == string(protocol.ToolUnknown) {
			d.Status, d.Error = protocol.ToolStatus(d.Error), ""
		}
		c.recordToolEnded(s, id, call, d)
	case wire.ChatToolDenied:
		c.recordToolEnded(s, id, call, protocol.ToolEndedData{Status: protocol.ToolDenied})
	}
}

// recordToolInput records a call's complete arguments.
func (c *Conn) recordToolInput(s *session, id string, call *tool, input json.RawMessage) {
	if bytes.Equal(call.input, input) && input != nil {
		return // repeated
	}
	call.input = input
	c.record(s, codec.Entry{
		Type: protocol.ToolInput, Turn: s.turn.id, Parent: call.parent,
		Data: protocol.ToolInputData{Tool: id, Input: input},
	})
}

// isRequestInput reports whether an event is what agentctl's server shows for a pending request
// that differs from its call. The request has it already.
func (s *session) isRequestInput(call *tool, e *wire.ChatEvent) bool {
	for i := range s.log.State.Approvals {
		a := &s.log.State.Approvals[i]
		if a.Tool == e.ToolCallID && wire.Differs(a, call.name, call.input) && !wire.Differs(a, e.ToolName, e.Input) {
			return true
		}
	}
	return false
}

// recordToolName records a call's name or title if it is new.
func (c *Conn) recordToolName(s *session, id string, call *tool, e *wire.ChatEvent, fresh bool) {
	d := protocol.ToolStartedData{Tool: id}
	if e.ToolName != "" && e.ToolName != call.name {
		d.Name, call.name = e.ToolName, e.ToolName
	}
	if e.Title != "" && e.Title != call.title {
		d.Title, call.title = e.Title, e.Title
	}
	if fresh || d.Name != "" || d.Title != "" {
		c.record(s, codec.Entry{Type: protocol.ToolStarted, Turn: s.turn.id, Parent: call.parent, Data: d})
	}
}

// recordToolOutput records a tool's output so far. It appends the new part of a text and replaces
// anything else.
func (c *Conn) recordToolOutput(s *session, id string, call *tool, raw json.RawMessage) {
	last := hashNext(0, raw)
	if call.lastHash == last {
		return // repeated
	}
	call.lastHash = last
	var text string
	en := codec.Entry{Type: protocol.ToolOutput, Turn: s.turn.id, Parent: call.parent}
	if json.Unmarshal(raw, &text) == nil {
		added, grown := strings.CutPrefix(text, call.text)
		if grown = grown && !call.structured; !grown {
			added = text
		}
		call.structured = false
		for i, piece := range protocol.SplitText(added, protocol.MaxText) {
			en.Data = protocol.ToolOutputData{Tool: id, Text: piece, Replace: !grown && i == 0}
			c.record(s, en)
		}
		s.turn.bytes -= len(call.text)
		call.text = ""
		if len(text) <= wire.MaxToolOutput && s.turn.bytes+len(text) <= wire.MaxToolsBytes {
			call.text = text
			s.turn.bytes += len(text)
		}
		return
	}
	s.turn.bytes -= len(call.text)
	call.text = ""
	var o wire.ToolOutput
	if json.Unmarshal(raw, &o) != nil || o.Content == nil {
		o = wire.ToolOutput{Content: []protocol.Content{{Type: "other", Data: raw}}}
	}
	call.structured = true
	en.Data = protocol.ToolOutputData{Tool: id, Text: o.Text, Content: o.Content, Replace: true}
	c.record(s, en)
}

// finalOutput returns a call's structured output at its end, or nil if it was recorded already. A
// text is recorded as output.
func (c *Conn) finalOutput(s *session, id string, call *tool, raw json.RawMessage) json.RawMessage {
	switch {
	case len(raw) == 0, string(raw) == "null", string(raw) == `""`, call.lastHash == hashNext(0, raw):
		return nil
	case raw[0] == '"':
		c.recordToolOutput(s, id, call, raw)
		return nil
	}
	return raw
}

// recordDecision records the decision that the output of a call tells, if its approval is pending.
func (c *Conn) recordDecision(s *session, id string, decision *wire.ToolApproval, answers map[string][]string) {
	a := s.findApproval(id)
	if a == nil || s.turn.nativeApprovals[a.Request] {
		return
	}
	out := protocol.ApprovalResolvedData{
		Request: a.Request, Outcome: protocol.Allowed, Decision: protocol.AllowOnce,
	}
	if decision != nil && decision.Approved != nil && !*decision.Approved {
		out.Outcome, out.Decision, out.Reason = protocol.Denied, protocol.Deny, decision.Reason
	}
	if answers != nil {
		out.Input = &protocol.ApprovalInput{Answers: answers}
	}
	c.recordResolution(s, out, nil)
}

// recordToolEnded records the end of a call, which implies a decision on its approval. A question
// that was declined fails.
func (c *Conn) recordToolEnded(s *session, id string, call *tool, d protocol.ToolEndedData) {
	d.Tool = id
	if a := s.findApproval(id); a != nil && !s.turn.nativeApprovals[a.Request] {
		out := protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Allowed}
		switch {
		case d.Status == protocol.ToolDenied,
			d.Status == protocol.ToolFailed && a.Kind != protocol.ApproveTool && a.Kind != protocol.ApproveCommand:
			out.Outcome = protocol.Denied
		case d.Status == protocol.ToolCancelled, d.Status == protocol.ToolUnknown:
			out.Outcome = protocol.Cancelled
		}
		c.recordResolution(s, out, nil)
	}
	c.record(s, codec.Entry{Type: protocol.ToolEnded, Turn: s.turn.id, Parent: call.parent, Data: d})
	s.turn.bytes -= len(call.text)
	call.text = ""
}

// findApproval returns the pending approval of a tool call, or nil.
func (s *session) findApproval(toolCall string) *protocol.Approval {
	for i := range s.log.State.Approvals {
		if a := &s.log.State.Approvals[i]; wire.ToolCallOf(a) == toolCall {
			return a
		}
	}
	return nil
}

// recordPending records that a tool call awaits a decision.
func (c *Conn) recordPending(s *session, id, name string) {
	if id == "" || s.findApproval(id) != nil || len(s.log.State.Approvals) >= maxApprovals {
		return
	}
	if _, decided := s.decisions.Get(id); decided {
		return
	}
	var title string
	var input json.RawMessage
	if call := s.turn.tools[id]; call != nil {
		title, input = call.title, call.input
	}
	a := wire.ApprovalOf(id, name, title, input)
	a.Asked = c.Now.UTC()
	c.record(s, codec.Entry{Type: protocol.ApprovalRequested, Turn: s.turn.id, Data: a})
}
