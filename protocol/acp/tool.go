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

// The output of a call is sent again with each change.
const (
	maxOutput     = 32 << 10
	maxContent    = 32
	flushInterval = 250 * time.Millisecond
)

// toolID returns the client's id of a tool call. No call has the id of a request's card.
func toolID(tool string) string { return "tool:" + tool }

// sendTool sends the start, the output or the end of a tool call.
func (c *Conn) sendTool(s *session, e *protocol.Event) {
	switch e.Type {
	case protocol.ToolStarted:
		c.startTool(s, e, codec.DecodeEvent[protocol.ToolStartedData](e))
	case protocol.ToolInput:
		if d := codec.DecodeEvent[protocol.ToolInputData](e); len(d.Input) > 0 && s.tools[d.Tool] != nil {
			c.updateTool(s, e, d.Tool, object{"rawInput": d.Input})
		}
	case protocol.ToolOutput:
		d := codec.DecodeEvent[protocol.ToolOutputData](e)
		t := s.tools[d.Tool]
		if t == nil {
			return
		}
		if d.Replace {
			t.content, t.text = nil, ""
		}
		for i := range d.Content {
			t.content = append(t.content, c.toolContent(&d.Content[i]))
			t.content = t.content[max(len(t.content)-maxContent, 0):]
		}
		if c.appendOutput(s, e, d.Tool, d.Text); len(d.Content) > 0 || d.Replace {
			c.sendOutput(s, e, d.Tool)
		}
	case protocol.ToolEnded:
		c.endTool(s, e, codec.DecodeEvent[protocol.ToolEndedData](e))
	}
}

// startTool sends a call, or changed fields of it.
func (c *Conn) startTool(s *session, e *protocol.Event, d *protocol.ToolStartedData) {
	fields := object{}
	if d.Name != "" {
		fields["name"] = d.Name
	}
	if title := cmp.Or(d.Title, d.Name); title != "" && (d.Title != "" || s.tools[d.Tool] == nil) {
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
	if s.tools[d.Tool] != nil {
		c.updateTool(s, e, d.Tool, fields)
		return
	}
	s.tools[d.Tool] = &toolCall{}
	if fields["status"] = "in_progress"; fields["title"] == nil {
		fields["title"] = "tool"
	}
	if c.version == 2 {
		c.updateTool(s, e, d.Tool, fields)
		return
	}
	fields["sessionUpdate"], fields["toolCallId"] = "tool_call", toolID(d.Tool)
	c.update(s, e, fields)
}

// updateTool sends changed fields of a call.
func (c *Conn) updateTool(s *session, e *protocol.Event, tool string, fields object) {
	fields["sessionUpdate"], fields["toolCallId"] = "tool_call_update", toolID(tool)
	c.update(s, e, fields)
}

// appendOutput adds text to the output of a call. It is sent with the other text of the next
// flushInterval.
func (c *Conn) appendOutput(s *session, e *protocol.Event, tool, text string) {
	t := s.tools[tool]
	if t == nil || text == "" {
		return
	}
	t.text += text
	if over := len(t.text) - maxOutput; over > 0 {
		t.text = protocol.ValidText(t.text[over:])
	}
	t.waits, t.last = true, *e
	if c.flush.IsZero() {
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
func (c *Conn) sendOutput(s *session, e *protocol.Event, tool string) {
	t := s.tools[tool]
	t.waits = false
	c.updateTool(s, e, tool, object{"content": t.output()})
}

// flushOutput sends output that waits.
func (c *Conn) flushOutput() {
	c.flush = time.Time{}
	for _, s := range c.sessions {
		for tool, t := range s.tools {
			if t.waits {
				c.sendOutput(s, &t.last, tool)
			}
		}
	}
}

// endTool sends the end of a call.
func (c *Conn) endTool(s *session, e *protocol.Event, d *protocol.ToolEndedData) {
	t := s.tools[d.Tool]
	if t == nil {
		return
	}
	if d.Error != "" {
		t.content = append(t.content, object{"type": "content", "content": textBlock(fenced(d.Error))})
	}
	fields := object{"status": c.toolStatus(d.Status)}
	if t.waits || d.Error != "" {
		fields["content"] = t.output()
	}
	if len(d.Output) > 0 {
		fields["rawOutput"] = d.Output
	}
	delete(s.tools, d.Tool)
	c.updateTool(s, e, d.Tool, fields)
}

// endTools ends the calls that are open at the end of their turn.
func (c *Conn) endTools(s *session, e *protocol.Event) {
	for tool := range s.tools {
		c.endTool(s, e, &protocol.ToolEndedData{Tool: tool, Status: protocol.ToolUnknown})
	}
}

func (c *Conn) toolStatus(status protocol.ToolStatus) string {
	switch {
	case status == protocol.ToolCompleted:
		return "completed"
	case status == protocol.ToolCancelled && c.version == 2:
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
