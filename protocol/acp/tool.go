package acp

import (
	"cmp"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A toolCall is a tool call that has not ended, as the client knows it.
type toolCall struct {
	content []object       // of its output, except text: the last maxContent pieces
	text    string         // of its output: the last maxOutput bytes
	waits   bool           // text was not sent
	last    protocol.Event // with text that waits
}

// toolCalls are the tool calls of a session that have not ended.
type toolCalls struct {
	*feed
	open map[string]*toolCall
}

// The output of a call is sent again with each change.
const (
	maxOutput     = 32 << 10
	maxContent    = 32
	flushInterval = 250 * time.Millisecond
)

// toolID returns the client's id of a tool call. No call has the id of a request's card.
func toolID(tool string) string { return "tool:" + tool }

// send sends the start, the output or the end of a tool call.
func (l *toolCalls) send(e *protocol.Event) {
	switch e.Type {
	case protocol.ToolStarted:
		l.start(e, codec.DecodeEvent[protocol.ToolStartedData](e))
	case protocol.ToolInput:
		if d := codec.DecodeEvent[protocol.ToolInputData](e); len(d.Input) > 0 && l.open[d.Tool] != nil {
			l.change(e, d.Tool, object{"rawInput": d.Input})
		}
	case protocol.ToolOutput:
		d := codec.DecodeEvent[protocol.ToolOutputData](e)
		t := l.open[d.Tool]
		if t == nil {
			return
		}
		if d.Replace {
			t.content, t.text = nil, ""
		}
		for i := range d.Content {
			t.content = append(t.content, toolContent(l.client.version, &d.Content[i]))
			t.content = t.content[max(len(t.content)-maxContent, 0):]
		}
		if l.append(e, d.Tool, d.Text); len(d.Content) > 0 || d.Replace {
			l.sendOutput(e, d.Tool)
		}
	case protocol.ToolEnded:
		l.end(e, codec.DecodeEvent[protocol.ToolEndedData](e))
	}
}

// start sends a call, or changed fields of it.
func (l *toolCalls) start(e *protocol.Event, d *protocol.ToolStartedData) {
	fields := object{}
	if d.Name != "" {
		fields["name"] = d.Name
	}
	if title := cmp.Or(d.Title, d.Name); title != "" && (d.Title != "" || l.open[d.Tool] == nil) {
		fields["title"] = title
	}
	if d.Kind != "" {
		fields["kind"] = toolKind(d.Kind)
	}
	if len(d.Input) > 0 {
		fields["rawInput"] = d.Input
	}
	if len(d.Locations) > 0 {
		fields["locations"] = locations(d.Locations)
	}
	if l.open[d.Tool] != nil {
		l.change(e, d.Tool, fields)
		return
	}
	if l.open == nil {
		l.open = map[string]*toolCall{}
	}
	l.open[d.Tool] = &toolCall{}
	if fields["status"] = "in_progress"; fields["title"] == nil {
		fields["title"] = "tool"
	}
	if l.client.version == 2 {
		l.change(e, d.Tool, fields)
		return
	}
	fields["sessionUpdate"], fields["toolCallId"] = "tool_call", toolID(d.Tool)
	l.update(e, fields)
}

// change sends changed fields of a call.
func (l *toolCalls) change(e *protocol.Event, tool string, fields object) {
	fields["sessionUpdate"], fields["toolCallId"] = "tool_call_update", toolID(tool)
	l.update(e, fields)
}

// append adds text to the output of a call. It is sent with the other text of the next
// flushInterval.
func (l *toolCalls) append(e *protocol.Event, tool, text string) {
	t := l.open[tool]
	if t == nil || text == "" {
		return
	}
	t.text += text
	if over := len(t.text) - maxOutput; over > 0 {
		t.text = protocol.ValidText(t.text[over:])
	}
	t.waits, t.last = true, *e
	if c := l.client; c.flush.IsZero() {
		c.flush = c.Now.Add(flushInterval)
	}
}

// output returns the output of a call so far.
func (t *toolCall) output() []object {
	list := []object{}
	if t.text != "" {
		list = append(list, object{"type": "content", "content": textBlock(fenced(t.text))})
	}
	return append(list, t.content...)
}

// sendOutput sends the output of a call.
func (l *toolCalls) sendOutput(e *protocol.Event, tool string) {
	t := l.open[tool]
	t.waits = false
	l.change(e, tool, object{"content": t.output()})
}

// flush sends output that waits.
func (l *toolCalls) flush() {
	for tool, t := range l.open {
		if t.waits {
			l.sendOutput(&t.last, tool)
		}
	}
}

// end sends the end of a call.
func (l *toolCalls) end(e *protocol.Event, d *protocol.ToolEndedData) {
	t := l.open[d.Tool]
	if t == nil {
		return
	}
	if d.Error != "" {
		t.content = append(t.content, object{"type": "content", "content": textBlock(fenced(d.Error))})
	}
	fields := object{"status": toolStatus(l.client.version, d.Status)}
	if t.waits || d.Error != "" {
		fields["content"] = t.output()
	}
	if len(d.Output) > 0 {
		fields["rawOutput"] = d.Output
	}
	delete(l.open, d.Tool)
	l.change(e, d.Tool, fields)
}

// endAll ends the calls that are open at the end of their turn.
func (l *toolCalls) endAll(e *protocol.Event) {
	for tool := range l.open {
		l.end(e, &protocol.ToolEndedData{Tool: tool, Status: protocol.ToolUnknown})
	}
}

func toolStatus(version int, status protocol.ToolStatus) string {
	switch {
	case status == protocol.ToolCompleted:
		return "completed"
	case status == protocol.ToolCancelled && version == 2:
		return "cancelled"
	}
	return "failed"
}

// toolKind returns the kind of a tool for the client.
func toolKind(kind string) string {
	switch kind {
	case protocol.ToolRead, protocol.ToolEdit, protocol.ToolDelete, protocol.ToolMove, protocol.ToolSearch,
		protocol.ToolExecute, protocol.ToolThink, protocol.ToolFetch:
		return kind
	}
	return protocol.ToolOther
}

func locations(list []protocol.Location) []object {
	out := []object{}
	for _, l := range list {
		place := object{"path": l.Path}
		if l.Line > 0 {
			place["line"] = l.Line
		}
		out = append(out, place)
	}
	return out
}
