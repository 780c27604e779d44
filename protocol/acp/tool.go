package acp

import (
	"cmp"
	"encoding/base64"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A toolCall is a tool call that has not ended, as the client knows it.
type toolCall struct {
	content  []object // of its output, except text
	text     string   // of its output, at most maxOutput bytes of its end
	terminal bool     // the text is the output of a terminal, sent in pieces
	waits    bool     // text was not sent
	last     protocol.Event
}

const (
	maxOutput     = 32 << 10 // bytes of the text of a call that is sent again with each change
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
			c.updateTool(s, e, d.Tool, object{"rawInput": rawJSON(d.Input)})
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
		}
		if len(d.Content) > 0 || d.Replace {
			t.text += d.Text
			c.sendOutput(s, e, d.Tool)
		} else {
			c.appendOutput(s, e, d.Tool, d.Text)
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
		fields["rawInput"] = rawJSON(d.Input)
	}
	if len(d.Locations) > 0 {
		fields["locations"] = locations(d.Locations)
	}
	if s.tools[d.Tool] != nil {
		c.updateTool(s, e, d.Tool, fields)
		return
	}
	t := &toolCall{terminal: d.Kind == protocol.ToolExecute && (c.version == 2 || c.client.Meta.TerminalOutput)}
	s.tools[d.Tool] = t
	if fields["status"] = "in_progress"; fields["title"] == nil {
		fields["title"] = "tool"
	}
	if t.terminal {
		fields["content"] = c.callContent(t, d.Tool)
		if c.version == 1 {
			fields["_meta"] = object{"terminal_info": object{"terminal_id": toolID(d.Tool)}}
		} else {
			c.update(s, e, object{"sessionUpdate": "terminal_update", "terminalId": toolID(d.Tool)})
		}
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

// callContent returns the output of a call so far.
func (c *Conn) callContent(t *toolCall, tool string) []object {
	list := []object{}
	switch {
	case t.terminal:
		list = append(list, object{"type": "terminal", "terminalId": toolID(tool)})
	case t.text != "":
		list = append(list, object{"type": "content", "content": textBlock(fenced(t.text))})
	}
	return append(list, t.content...)
}

// appendOutput adds text to the output of a call. Without a terminal it is sent with the other text
// of the next flushInterval.
func (c *Conn) appendOutput(s *session, e *protocol.Event, tool, text string) {
	t := s.tools[tool]
	if t == nil || text == "" {
		return
	}
	if t.terminal {
		c.sendTerminal(s, e, tool, text)
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

func (c *Conn) sendTerminal(s *session, e *protocol.Event, tool, text string) {
	if c.version == 2 {
		c.update(s, e, object{
			"sessionUpdate": "terminal_output_chunk", "terminalId": toolID(tool),
			"data": base64.StdEncoding.EncodeToString([]byte(text)),
		})
		return
	}
	c.updateTool(s, e, tool, object{
		"_meta": object{"terminal_output": object{"terminal_id": toolID(tool), "data": text}},
	})
}

// sendOutput sends the whole output of a call.
func (c *Conn) sendOutput(s *session, e *protocol.Event, tool string) {
	t := s.tools[tool]
	if t.terminal && t.text != "" {
		c.sendTerminal(s, e, tool, t.text)
		t.text = ""
	}
	t.waits = false
	c.updateTool(s, e, tool, object{"content": c.callContent(t, tool)})
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
		fields["content"] = c.callContent(t, d.Tool)
	}
	if len(d.Output) > 0 {
		fields["rawOutput"] = rawJSON(d.Output)
	}
	if t.terminal {
		exit := object{"exit_code": d.ExitCode, "signal": nil, "terminal_id": toolID(d.Tool)}
		if c.version == 1 {
			fields["_meta"] = object{"terminal_exit": exit}
		} else {
			c.update(s, e, object{
				"sessionUpdate": "terminal_update", "terminalId": toolID(d.Tool),
				"exitStatus": object{"exitCode": d.ExitCode},
			})
		}
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
