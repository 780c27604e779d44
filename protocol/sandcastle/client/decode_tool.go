package client

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// A tool is a tool call of the turn.
type tool struct {
	id          string
	name, title string
	input       json.RawMessage
	parent      string
	text        string // output so far
	structured  bool   // the output so far is more than text
	lastHash    uint64 // hash of the last output
}

// toolEvent returns an event of a tool call.
func (t *turn) toolEvent(call *tool, typ protocol.Type, data any) codec.Entry {
	return codec.Entry{Type: typ, Turn: t.id, Parent: call.parent, Data: data}
}

// decodeTool decodes a chat event of a tool call.
func (t *turn) decodeTool(st *protocol.State, e *wire.ChatEvent, raw json.RawMessage) (events []codec.Entry) {
	id := e.ToolCallID
	if id == "" {
		return t.raw(e.Type, raw)
	}
	call := t.tools[id]
	fresh := call == nil
	if fresh {
		call = &tool{id: id, parent: e.ParentToolCallID}
		if len(t.tools) < wire.MaxOpen {
			t.tools[id] = call
		}
	} else if e.Type == wire.ChatToolInput && t.peerIsAgentctl && isRequestInput(st, call, e) {
		return nil
	}
	events = t.nameTool(call, e, fresh)
	switch e.Type {
	case wire.ChatToolInputDelta:
		if e.InputTextDelta == nil {
			return events
		}
		for _, piece := range protocol.SplitText(*e.InputTextDelta, protocol.MaxText) {
			events = append(events, t.toolEvent(call, protocol.ToolInput, protocol.ToolInputData{Tool: id, Text: piece}))
		}
	case wire.ChatToolInput:
		events = append(events, t.toolInput(call, e.Input)...)
	case wire.ChatToolOutput:
		if e.Preliminary {
			return append(events, t.toolOutput(call, e.Output)...)
		}
		var answers map[string][]string
		if text, ok := blockText(e.Output); ok && !t.peerIsAgentctl {
			if answers = answersIn(call.name, text); answers != nil {
				text = describeAnswers(call.input, answers)
			}
			e.Output = protocol.AppendString(nil, text)
		}
		events = append(events, t.decide(st, id, e.Approval, answers)...)
		output, shown := t.finalOutput(call, e.Output)
		events = append(events, shown...)
		events = append(events, t.endTool(st, call, protocol.ToolEndedData{
			Status: protocol.ToolCompleted, Output: output,
		})...)
	case wire.ChatToolOutputError, wire.ChatToolInputError:
		if e.Type == wire.ChatToolInputError && e.Input != nil { // the invalid input
			events = append(events, t.toolInput(call, e.Input)...)
		}
		d := protocol.ToolEndedData{Status: protocol.ToolFailed}
		if e.ErrorText != nil {
			d.Error = *e.ErrorText
		}
		if text, ok := blockText([]byte(d.Error)); ok && !t.peerIsAgentctl {
			d.Error = text
		}
		if d.Error == string(protocol.ToolCancelled) || d.Error == string(protocol.ToolUnknown) {
			d.Status, d.Error = protocol.ToolStatus(d.Error), ""
		}
		events = append(events, t.endTool(st, call, d)...)
	case wire.ChatToolDenied:
		events = append(events, t.endTool(st, call, protocol.ToolEndedData{Status: protocol.ToolDenied})...)
	}
	return events
}

// isRequestInput reports whether an event is the input that agentctl's server shows for a pending
// request that differs from its call. The request already has this input.
func isRequestInput(st *protocol.State, call *tool, e *wire.ChatEvent) bool {
	return slices.ContainsFunc(st.Approvals, func(a protocol.Approval) bool {
		return a.Tool == e.ToolCallID && wire.Differs(&a, call.name, call.input) && !wire.Differs(&a, e.ToolName, e.Input)
	})
}

// nameTool starts a call, or changes its name or title.
func (t *turn) nameTool(call *tool, e *wire.ChatEvent, fresh bool) []codec.Entry {
	d := protocol.ToolStartedData{Tool: call.id}
	if e.ToolName != "" && e.ToolName != call.name {
		d.Name, call.name = e.ToolName, e.ToolName
	}
	if e.Title != "" && e.Title != call.title {
		d.Title, call.title = e.Title, e.Title
	}
	if !fresh && d.Name == "" && d.Title == "" {
		return nil
	}
	return []codec.Entry{t.toolEvent(call, protocol.ToolStarted, d)}
}

// toolInput sets a call's complete arguments.
func (t *turn) toolInput(call *tool, input json.RawMessage) []codec.Entry {
	if bytes.Equal(call.input, input) && input != nil {
		return nil // repeated
	}
	call.input = input
	return []codec.Entry{t.toolEvent(call, protocol.ToolInput, protocol.ToolInputData{Tool: call.id, Input: input})}
}

// toolOutput sets a call's output so far. It appends the new part of a text and replaces anything
// else.
func (t *turn) toolOutput(call *tool, raw json.RawMessage) (events []codec.Entry) {
	last := hashNext(0, raw)
	if call.lastHash == last {
		return nil // repeated
	}
	call.lastHash = last
	before, wasStructured := call.text, call.structured
	t.forget(call)
	var text string
	if json.Unmarshal(raw, &text) == nil {
		added, grown := strings.CutPrefix(text, before)
		if grown = grown && !wasStructured; !grown {
			added = text
		}
		call.structured = false
		for i, piece := range protocol.SplitText(added, protocol.MaxText) {
			d := protocol.ToolOutputData{Tool: call.id, Text: piece, Replace: !grown && i == 0}
			events = append(events, t.toolEvent(call, protocol.ToolOutput, d))
		}
		if len(text) <= wire.MaxToolOutput && t.bytes+len(text) <= wire.MaxToolsBytes {
			call.text = text
			t.bytes += len(text)
		}
		return events
	}
	var o wire.ToolOutput
	if json.Unmarshal(raw, &o) != nil || o.Content == nil {
		o = wire.ToolOutput{Content: []protocol.Content{{Type: "other", Data: raw}}}
	}
	call.structured = true
	d := protocol.ToolOutputData{Tool: call.id, Text: o.Text, Content: o.Content, Replace: true}
	return []codec.Entry{t.toolEvent(call, protocol.ToolOutput, d)}
}

// forget drops the text that is kept of a call's output.
func (t *turn) forget(call *tool) {
	t.bytes -= len(call.text)
	call.text = ""
}

// finalOutput returns a call's structured output at its end, or nil if it was recorded already. A
// text becomes an event.
func (t *turn) finalOutput(call *tool, raw json.RawMessage) (structured json.RawMessage, events []codec.Entry) {
	switch {
	case len(raw) == 0, string(raw) == "null", string(raw) == `""`, call.lastHash == hashNext(0, raw):
		return nil, nil
	case raw[0] == '"':
		return nil, t.toolOutput(call, raw)
	}
	return raw, nil
}

// decide ends the pending approval of a call by the decision that its output reports.
func (t *turn) decide(
	st *protocol.State, id string, decision *wire.ToolApproval, answers map[string][]string,
) []codec.Entry {
	a := approvalOf(st, id)
	if a == nil || t.nativeApprovals[a.Request] {
		return nil
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
	return resolve(st, nil, out)
}

// endTool ends a call, and its approval if that is still pending: the end implies a decision. A
// question that was declined fails.
func (t *turn) endTool(st *protocol.State, call *tool, d protocol.ToolEndedData) (events []codec.Entry) {
	d.Tool = call.id
	if a := approvalOf(st, call.id); a != nil && !t.nativeApprovals[a.Request] {
		out := protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Allowed}
		switch {
		case d.Status == protocol.ToolDenied,
			d.Status == protocol.ToolFailed && a.Kind != protocol.ApproveTool && a.Kind != protocol.ApproveCommand:
			out.Outcome = protocol.Denied
		case d.Status == protocol.ToolCancelled, d.Status == protocol.ToolUnknown:
			out.Outcome = protocol.Cancelled
		}
		events = resolve(st, nil, out)
	}
	t.forget(call)
	return append(events, t.toolEvent(call, protocol.ToolEnded, d))
}

// approvalOf returns the pending approval of a tool call, or nil.
func approvalOf(st *protocol.State, toolCall string) *protocol.Approval {
	for i := range st.Approvals {
		if a := &st.Approvals[i]; wire.ToolCallOf(a) == toolCall {
			return a
		}
	}
	return nil
}

// ask requests a decision on a tool call.
func (t *turn) ask(now time.Time, st *protocol.State, id, name string) []codec.Entry {
	if id == "" || approvalOf(st, id) != nil || len(st.Approvals) >= maxApprovals {
		return nil
	}
	if _, decided := t.decisions.Get(id); decided {
		return nil
	}
	var title string
	var input json.RawMessage
	if call := t.tools[id]; call != nil {
		title, input = call.title, call.input
	}
	a := wire.ApprovalOf(id, name, title, input)
	a.Asked = now.UTC()
	return []codec.Entry{t.event(protocol.ApprovalRequested, a)}
}
