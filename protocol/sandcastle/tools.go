package sandcastle

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
)

// Bounds of what is remembered of one turn.
const (
	maxOpen       = 4096     // parts and tools
	maxToolOutput = 1 << 20  // bytes of one tool's output that are repeated
	maxToolsBytes = 8 << 20  // of all
	alwaysSaid    = 1 << 10  // a tool's output up to here is said with every change
	againSaid     = 64 << 10 // and up to here when the tool is called something else
)

// A turnView is what has to be known of the turn under way to say it.
type turnView struct {
	id    string
	parts map[partKey]bool
	tools map[string]*toolView
	bytes int // of inputs and outputs
}

type partKey struct {
	kind protocol.Kind
	id   string
}

// A toolView is a tool call. Its output is said whole each time, so a long one is said when it has doubled.
type toolView struct {
	name, title string
	input       json.RawMessage
	text        []byte
	content     []protocol.Content
	said        int  // bytes of text when it was said last
	dirty       bool // there is more than was said
	asked       bool // it exists for an approval alone
}

func newTurnView(id string) *turnView {
	return &turnView{id: id, parts: map[partKey]bool{}, tools: map[string]*toolView{}}
}

// open opens a part and reports whether it was not open.
func (t *turnView) open(kind protocol.Kind, id string) bool {
	key := partKey{kind, id}
	if t.parts[key] || len(t.parts) >= maxOpen {
		return false
	}
	t.parts[key] = true
	return true
}

func (t *turnView) close(kind protocol.Kind, id string) { delete(t.parts, partKey{kind, id}) }

// toolNamed returns a tool call, which is said to begin when it is new.
func (v *view) toolNamed(id, name, title, parent string) *toolView {
	t := v.turn.tools[id]
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
	t = &toolView{name: name, title: title}
	if len(v.turn.tools) < maxOpen {
		v.turn.tools[id] = t
	}
	v.chat(chatEvent{Type: chatToolInputStart, ToolCallID: id, ToolName: name, Dynamic: true, Title: title, ParentToolCallID: parent})
	return t
}

// tool says an event of a tool call.
func (v *view) tool(e *protocol.Event) {
	switch e.Type {
	case protocol.ToolStarted:
		var d protocol.ToolStartedData
		_ = e.Decode(&d)
		name := d.Name
		if name == "" {
			name = d.Kind
		}
		var old toolView
		t := v.turn.tools[d.Tool]
		known := t != nil
		if known {
			old = *t
		}
		t = v.toolNamed(d.Tool, name, d.Title, e.Parent)
		switch {
		case known && (d.Input != nil || t.name != old.name || t.title != old.title):
			v.toolAgain(t, d.Tool, e.Parent, d.Input)
		case d.Input != nil:
			v.input(t, d.Tool, e.Parent, d.Input)
		}
	case protocol.ToolInput:
		var d protocol.ToolInputData
		_ = e.Decode(&d)
		t := v.toolNamed(d.Tool, "", "", e.Parent)
		if d.Text != "" {
			v.chat(chatEvent{Type: chatToolInputDelta, ToolCallID: d.Tool, InputTextDelta: &d.Text, ParentToolCallID: e.Parent})
		}
		v.input(t, d.Tool, e.Parent, d.Input)
	case protocol.ToolOutput:
		var d protocol.ToolOutputData
		_ = e.Decode(&d)
		v.output(v.toolNamed(d.Tool, "", "", e.Parent), d.Tool, e.Parent, &d)
	case protocol.ToolEnded:
		var d protocol.ToolEndedData
		_ = e.Decode(&d)
		v.toolEnded(v.toolNamed(d.Tool, "", "", e.Parent), e.Parent, &d)
	}
}

// input says a tool's arguments; none: that it is called something else now.
func (v *view) input(t *toolView, id, parent string, input json.RawMessage) {
	if input == nil {
		v.chat(chatEvent{Type: chatToolInputStart, ToolCallID: id, ToolName: t.name, Dynamic: true, Title: t.title, ParentToolCallID: parent})
		return
	}
	v.turn.bytes -= len(t.input)
	if t.input = nil; v.turn.bytes+len(input) <= maxToolsBytes {
		t.input = input
		v.turn.bytes += len(input)
	}
	v.chat(chatEvent{
		Type: chatToolInput, ToolCallID: id, ToolName: t.name, Input: input, Dynamic: true, Title: t.title, ParentToolCallID: parent,
	})
}

// toolAgain says what a tool is called now. On their screens a call begins anew with that, so the rest is said again: a long output
// when there is more of it.
func (v *view) toolAgain(t *toolView, id, parent string, input json.RawMessage) {
	if input == nil {
		input = t.input
	}
	v.input(t, id, parent, input)
	switch {
	case len(t.text) > againSaid:
		t.dirty, t.said = true, 0
	case len(t.text) > 0 || len(t.content) > 0:
		v.preliminary(t, id, parent)
	}
	if slices.ContainsFunc(v.state.Approvals, func(a protocol.Approval) bool { return toolCallOf(&a) == id }) {
		v.tellChat(chatEvent{Type: chatApprovalRequest, ToolCallID: id, ToolName: t.name, MessageID: v.turn.id})
	}
}

// output takes a tool's output in.
func (v *view) output(t *toolView, id, parent string, d *protocol.ToolOutputData) {
	if d.Replace {
		v.turn.bytes -= len(t.text)
		t.text, t.content, t.said = nil, nil, 0
	}
	if room := min(maxToolOutput-len(t.text), maxToolsBytes-v.turn.bytes); len(d.Text) <= room {
		t.text = append(t.text, d.Text...)
		v.turn.bytes += len(d.Text)
	}
	if len(t.content)+len(d.Content) <= maxOpen {
		t.content = append(t.content, d.Content...)
	}
	t.dirty = true
	if d.Replace || len(d.Content) > 0 || len(t.text) <= alwaysSaid || len(t.text) >= 2*t.said {
		v.preliminary(t, id, parent)
	}
}

// preliminary says a tool's output as far as it has come.
func (v *view) preliminary(t *toolView, id, parent string) {
	t.said, t.dirty = len(t.text), false
	v.chat(chatEvent{
		Type: chatToolOutput, ToolCallID: id, Output: t.value(), Preliminary: true, Dynamic: true, ParentToolCallID: parent,
	})
}

// value is a tool's output as they show it: a text, or what else it is.
func (t *toolView) value() json.RawMessage {
	switch {
	case len(t.content) > 0:
		return protocol.MustEncode(toolOutput{string(t.text), t.content})
	case len(t.text) > 0:
		return protocol.AppendString(nil, string(t.text))
	}
	return jsonNull
}

// toolEnded says a tool's end.
func (v *view) toolEnded(t *toolView, parent string, d *protocol.ToolEndedData) {
	if t.dirty {
		v.preliminary(t, d.Tool, parent)
	}
	c := chatEvent{Type: chatToolOutputError, ToolCallID: d.Tool, Dynamic: true, ParentToolCallID: parent}
	switch d.Status {
	case protocol.ToolCompleted:
		c.Type, c.Output = chatToolOutput, d.Output
		if c.Output == nil {
			c.Output = t.value()
		}
	case protocol.ToolDenied:
		c.Type, c.Dynamic = chatToolDenied, false
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
	v.chat(c)
	v.turn.bytes -= len(t.text) + len(t.input)
	t.input, t.text, t.content = nil, nil, nil
}

// asked says that an approval is asked for. One that is for no tool call that they know gets one.
func (v *view) asked(e *protocol.Event) {
	var a protocol.Approval
	_ = e.Decode(&a)
	id, name := toolCallOf(&a), toolNameOf(&a)
	v.foreign(e)
	if v.turn.tools[id] == nil {
		t := v.toolNamed(id, name, a.Title, e.Parent)
		t.asked = a.Tool == ""
		v.input(t, id, e.Parent, inputOf(&a))
	}
	if v.state.RuleFor(&a) != nil {
		return
	}
	// Not repeated: who comes later has it in pendingApprovals.
	v.tellChat(chatEvent{Type: chatApprovalRequest, ToolCallID: id, ToolName: name, MessageID: v.turn.id})
}

// resolved ends the tool call that exists for an approval alone.
func (v *view) resolved(e *protocol.Event) {
	var d protocol.ApprovalResolvedData
	_ = e.Decode(&d)
	t := v.turn.tools[d.Request]
	if t == nil || !t.asked {
		return
	}
	delete(v.turn.tools, d.Request)
	switch d.Outcome {
	case protocol.Allowed:
		v.chat(chatEvent{Type: chatToolOutput, ToolCallID: d.Request, Output: protocol.MustEncode(d.Outcome), Dynamic: true})
	case protocol.Denied:
		v.chat(chatEvent{Type: chatToolDenied, ToolCallID: d.Request})
	default:
		why := string(d.Outcome)
		v.chat(chatEvent{Type: chatToolOutputError, ToolCallID: d.Request, ErrorText: &why, Dynamic: true})
	}
}
