package multiagent

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
)

// A serverTurn is one message of the protocol: it joins all text of a turn.
type serverTurn struct {
	id      string
	agent   string
	message string // its id

	// toolRequest means that the message asks for a tool, in the real system's form, and that no
	// tool or request came yet.
	toolRequest bool

	content []byte
	parts   []*serverPart
	tools   map[string]*serverTool
}

// A serverPart is a text or reasoning part. Text of a task or a nested tool is buffered until the
// part ends, so that parallel parts do not mix.
type serverPart struct {
	id       string
	kind     protocol.Kind
	agent    string
	buffered bool // sent at its end
	started  bool
	buffer   []byte
}

type serverTool struct {
	name, title, kind string
	output            []byte // truncated
	denialSent        bool   // the end was sent with the denial
}

// displayName returns the tool's name for the client.
func (call *serverTool) displayName() string { return cmp.Or(call.name, call.title, call.kind) }

func newServerTurn(id, agent string) *serverTurn {
	return &serverTurn{id: id, agent: agent, tools: map[string]*serverTool{}}
}

// part returns an open part, and opens it if necessary.
func (t *serverTurn) part(e *protocol.Event, id string, kind protocol.Kind) *serverPart {
	i := slices.IndexFunc(t.parts, func(p *serverPart) bool { return p.id == id && p.kind == kind })
	if i >= 0 {
		return t.parts[i]
	}
	p := &serverPart{id: id, kind: kind, agent: t.agent, buffered: e.Task != "" || e.Parent != ""}
	if len(t.parts) < maxOpenItems {
		t.parts = append(t.parts, p)
	}
	return p
}

// tool returns an open tool, and opens it if necessary.
func (t *serverTurn) tool(id string) *serverTool {
	if call := t.tools[id]; call != nil {
		return call
	}
	call := &serverTool{}
	if len(t.tools) < maxOpenItems {
		t.tools[id] = call
	}
	return call
}

// sendChunk streams text of the turn's message. A blank line separates parts.
func (s *server) sendChunk(c *conversation, p *serverPart, text string) {
	t := c.turn
	if text == "" {
		return
	}
	if !p.started && len(t.content) > 0 {
		text = "\n\n" + text
	}
	p.started = true
	t.content = append(t.content, text[:min(len(text), maxContent-len(t.content))]...)
	if c.chat != nil {
		s.sendChatDelta(text)
		return
	}
	s.send(frame{
		Type: typeChunk, Conversation: c.id, Payload: messageChunk{Message: t.id, Chunk: text, Agent: p.agent},
	})
}

// appendText handles a delta of a part.
func (s *server) appendText(c *conversation, p *serverPart, text string) {
	if !p.buffered && p.kind == protocol.KindText {
		s.sendChunk(c, p, text)
		return
	}
	p.buffer = append(p.buffer, text...)
	if len(p.buffer) > protocol.MaxJoined {
		s.flushPart(c, p)
	}
}

// flushPart sends the buffered text of a part.
func (s *server) flushPart(c *conversation, p *serverPart) {
	if len(p.buffer) == 0 {
		return
	}
	text := string(p.buffer)
	p.buffer = nil
	switch {
	case p.kind == protocol.KindText:
		s.sendChunk(c, p, text)
	case c.thinking:
		s.send(frame{
			Type: typeThought, Payload: workflowThought{ID: p.agent, Agent: p.agent, Conversation: c.id, Reason: text},
		})
	}
}

// encodeTurnEnded sends the end of the turn.
func (s *server) encodeTurnEnded(c *conversation, d *protocol.TurnEndedData) {
	t := c.turn
	for _, p := range t.parts {
		s.flushPart(c, p)
	}
	for _, r := range c.approvals {
		var result json.RawMessage
		if r.allowed {
			result = json.RawMessage("{}") // null would mean a rejection
		}
		s.sendToolExecuted(c, r.id, r.name, result, "the turn ended")
		s.sendRejection(c, r)
	}
	c.turn, c.approvals = nil, nil
	why := d.Message
	if why == "" {
		why = string(d.Reason)
	}
	switch d.Reason {
	case protocol.ReasonCompleted:
		done := messageComplete{
			Message: t.id, Content: protocol.ValidText(string(t.content)), Agent: t.agent,
			Metadata: metadata{Duration: d.DurationMS},
		}
		if d.Usage != nil {
			done.Metadata.Tokens = d.Usage.Output
		}
		if c.chat != nil {
			s.sendChatDone(c, done)
			return
		}
		s.send(frame{Type: typeComplete, Conversation: c.id, Payload: done})
	case protocol.ReasonInterrupted:
		s.sendError(c.id, cancelled, "Stream cancelled")
	case protocol.ReasonDenied:
		s.sendError(c.id, cancelled, "Stream cancelled: a tool was rejected")
	default:
		code := streamError
		if t.toolRequest {
			code = requestFailed
		}
		s.sendError(c.id, code, why)
	}
}

// isToolRequest reports whether a message asks for a tool in the real system's form. To agentctl's
// agents it is text.
func isToolRequest(text string) bool { return strings.HasPrefix(text, "/tool ") }
