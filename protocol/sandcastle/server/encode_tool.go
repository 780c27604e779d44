package server

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/sandcastle/wire"
)

// Bounds of a turn's state.
const (
	smallOutput = 1 << 10  // bytes of output up to which each change is sent
	maxRestated = 64 << 10 // bytes of output that a new name repeats
)

// A turn is the encoding state of the current turn.
type turn struct {
	id    string
	parts map[partKey]bool
	tools map[string]*tool
	bytes int // of inputs and outputs
}

type partKey struct {
	kind protocol.Kind
	id   string
}

// A tool is a tool call. The protocol repeats the whole output each time, so a long output is
// sent each time that it doubles.
type tool struct {
	name, title string
	input       json.RawMessage
	text        []byte
	content     []protocol.Content
	sentBytes   int                // size of text when it was last sent
	unsent      bool               // there is more to send
	approval    *protocol.Approval // that the call represents; nil: a call of the agent
}

func newServerTurn(id string) *turn {
	return &turn{id: id, parts: map[partKey]bool{}, tools: map[string]*tool{}}
}

// openPart opens a part and reports whether it was closed.
func (t *turn) openPart(kind protocol.Kind, id string) bool {
	key := partKey{kind, id}
	if t.parts[key] || len(t.parts) >= wire.MaxOpen {
		return false
	}
	t.parts[key] = true
	return true
}

func (t *turn) closePart(kind protocol.Kind, id string) { delete(t.parts, partKey{kind, id}) }

// ensureTool returns a tool call, and sends its start if it is new.
func (sub *subscription) ensureTool(id, name, title, parent string) *tool {
	t := sub.turn.tools[id]
	if t != nil {
		if name != "" {
			t.name = name
		}
		if title != "" {
			t.title = title
		}
		return t
	}
	if name == "" {
		name = "tool"
	}
	t = &tool{name: name, title: title}
	if len(sub.turn.tools) < wire.MaxOpen {
		sub.turn.tools[id] = t
	}
	sub.sendChat(wire.ChatEvent{
		Type: wire.ChatToolInputStart, ToolCallID: id, ToolName: name, Dynamic: true, Title: title, ParentToolCallID: parent,
	})
	return t
}

// encodeTool encodes an event of a tool call.
func (sub *subscription) encodeTool(e *protocol.Event) {
	switch e.Type {
	case protocol.ToolStarted:
		var d protocol.ToolStartedData
		_ = e.Decode(&d)
		name := d.Name
		if name == "" {
			name = d.Kind
		}
		var old tool
		t := sub.turn.tools[d.Tool]
		known := t != nil
		if known {
			old = *t
		}
		t = sub.ensureTool(d.Tool, name, d.Title, e.Parent)
		switch {
		case known && (d.Input != nil || t.name != old.name || t.title != old.title):
			sub.restateTool(t, d.Tool, e.Parent, d.Input)
		case d.Input != nil:
			sub.encodeToolInput(t, d.Tool, e.Parent, d.Input)
		}
	case protocol.ToolInput:
		var d protocol.ToolInputData
		_ = e.Decode(&d)
		t := sub.ensureTool(d.Tool, "", "", e.Parent)
		if d.Text != "" {
			sub.sendChat(wire.ChatEvent{
				Type: wire.ChatToolInputDelta, ToolCallID: d.Tool, InputTextDelta: &d.Text, ParentToolCallID: e.Parent,
			})
		}
		sub.encodeToolInput(t, d.Tool, e.Parent, d.Input)
	case protocol.ToolOutput:
		var d protocol.ToolOutputData
		_ = e.Decode(&d)
		sub.appendToolOutput(sub.ensureTool(d.Tool, "", "", e.Parent), d.Tool, e.Parent, &d)
	case protocol.ToolEnded:
		var d protocol.ToolEndedData
		_ = e.Decode(&d)
		sub.encodeToolEnded(sub.ensureTool(d.Tool, "", "", e.Parent), e.Parent, &d)
	}
}

// encodeToolInput sends a tool's arguments. A nil input sends a new name.
func (sub *subscription) encodeToolInput(t *tool, id, parent string, input json.RawMessage) {
	if input == nil {
		sub.sendChat(wire.ChatEvent{
			Type: wire.ChatToolInputStart, ToolCallID: id, ToolName: t.name, Dynamic: true, Title: t.title,
			ParentToolCallID: parent,
		})
		return
	}
	sub.turn.bytes -= len(t.input)
	if t.input = nil; sub.turn.bytes+len(input) <= wire.MaxToolsBytes {
		t.input = input
		sub.turn.bytes += len(input)
	}
	sub.sendChat(wire.ChatEvent{
		Type: wire.ChatToolInput, ToolCallID: id, ToolName: t.name, Input: input, Dynamic: true, Title: t.title,
		ParentToolCallID: parent,
	})
}

// restateTool sends a tool's new name. Clients restart the call then, so its input and output are
// sent again; a long output when it grows.
func (sub *subscription) restateTool(t *tool, id, parent string, input json.RawMessage) {
	if input == nil {
		input = t.input
	}
	sub.encodeToolInput(t, id, parent, input)
	switch {
	case len(t.text) > maxRestated:
		t.unsent, t.sentBytes = true, 0
	case len(t.text) > 0 || len(t.content) > 0:
		sub.sendPreliminary(t, id, parent)
	}
	if slices.ContainsFunc(sub.State.Approvals, func(a protocol.Approval) bool { return wire.ToolCallOf(&a) == id }) {
		sub.sendTransientChat(wire.ChatEvent{
			Type: wire.ChatApprovalRequest, ToolCallID: id, ToolName: t.name, MessageID: sub.turn.id,
		})
	}
}

// appendToolOutput appends a tool's output.
func (sub *subscription) appendToolOutput(t *tool, id, parent string, d *protocol.ToolOutputData) {
	if d.Replace {
		sub.turn.bytes -= len(t.text)
		t.text, t.content, t.sentBytes = nil, nil, 0
	}
	if room := min(wire.MaxToolOutput-len(t.text), wire.MaxToolsBytes-sub.turn.bytes); len(d.Text) <= room {
		t.text = append(t.text, d.Text...)
		sub.turn.bytes += len(d.Text)
	}
	if len(t.content)+len(d.Content) <= wire.MaxOpen {
		t.content = append(t.content, d.Content...)
	}
	t.unsent = true
	if d.Replace || len(d.Content) > 0 || len(t.text) <= smallOutput || len(t.text) >= 2*t.sentBytes {
		sub.sendPreliminary(t, id, parent)
	}
}

// sendPreliminary sends a tool's output so far.
func (sub *subscription) sendPreliminary(t *tool, id, parent string) {
	t.sentBytes, t.unsent = len(t.text), false
	sub.sendChat(wire.ChatEvent{
		Type: wire.ChatToolOutput, ToolCallID: id, Output: t.outputValue(), Preliminary: true, Dynamic: true,
		ParentToolCallID: parent,
	})
}

// outputValue returns a tool's output in the protocol's form: a text or an object.
func (t *tool) outputValue() json.RawMessage {
	switch {
	case len(t.content) > 0:
		return protocol.MustEncode(wire.ToolOutput{Text: string(t.text), Content: t.content})
	}
	return protocol.AppendString(nil, string(t.text))
}

// encodeToolEnded encodes the end of a tool.
func (sub *subscription) encodeToolEnded(t *tool, parent string, d *protocol.ToolEndedData) {
	if t.unsent {
		sub.sendPreliminary(t, d.Tool, parent)
	}
	c := wire.ChatEvent{Type: wire.ChatToolOutputError, ToolCallID: d.Tool, Dynamic: true, ParentToolCallID: parent}
	switch d.Status {
	case protocol.ToolCompleted:
		c.Type, c.Output = wire.ChatToolOutput, d.Output
		if c.Output == nil {
			c.Output = t.outputValue()
		}
	case protocol.ToolDenied:
		c.Type, c.Dynamic = wire.ChatToolDenied, false
	case protocol.ToolFailed:
		c.ErrorText = &d.Error
		if d.Error == "" && len(t.text) > 0 {
			s := string(t.text)
			c.ErrorText = &s
		}
	default:
		why := string(d.Status)
		c.ErrorText = &why
	}
	sub.sendChat(c)
	sub.turn.bytes -= len(t.text) + len(t.input)
	t.input, t.text, t.content = nil, nil, nil
}

// requestInput returns the event that shows a request in its tool call. Sandcastle's clients show
// the input of the call, and an agent can ask for something that its call did not show.
func requestInput(t *tool, a *protocol.Approval, parent string) wire.ChatEvent {
	name := t.name
	if prompt := wire.CallNameOf(a); prompt != wire.ToolNameOf(a) { // a question or a plan
		name = prompt
	}
	return wire.ChatEvent{
		Type: wire.ChatToolInput, ToolCallID: a.Tool, ToolName: name, Input: wire.ApprovalInput(a), Dynamic: true,
		Title: t.title, ParentToolCallID: parent,
	}
}

// encodeApproval encodes an approval request. It creates a tool call if the request has none.
func (sub *subscription) encodeApproval(e *protocol.Event) {
	var a protocol.Approval
	_ = e.Decode(&a)
	id, name := wire.ToolCallOf(&a), wire.ToolNameOf(&a)
	sub.encodeNative(e)
	switch t := sub.turn.tools[id]; {
	case t == nil:
		t = sub.ensureTool(id, wire.CallNameOf(&a), a.Title, e.Parent)
		if a.Tool == "" {
			t.approval = &a
		}
		sub.encodeToolInput(t, id, e.Parent, wire.ApprovalInput(&a))
	case wire.Differs(&a, t.name, t.input):
		sub.sendTransientChat(requestInput(t, &a, e.Parent))
	}
	if sub.State.DecidedAtOnce(&a) {
		return
	}
	// Not buffered: InitialState repeats it in pendingApprovals.
	sub.sendTransientChat(wire.ChatEvent{Type: wire.ChatApprovalRequest, ToolCallID: id, ToolName: name, MessageID: sub.turn.id})
}
