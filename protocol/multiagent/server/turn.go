package server

import (
	"cmp"
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/multiagent/wire"
)

// A turn is one message of the protocol: it joins all text of a turn.
type turn struct {
	id      string
	agent   string
	message string // its id

	// toolRequest means that the message asks for a tool, in the real system's form, and that no
	// tool or request came yet.
	toolRequest bool

	content []byte
	parts   []*part
	tools   map[string]*tool
}

// A part is a text or reasoning part. Text of a task or a nested tool is buffered until the
// part ends, so that parallel parts do not mix.
type part struct {
	id       string
	kind     protocol.Kind
	agent    string
	buffered bool // sent at its end
	started  bool
	buffer   []byte
}

type tool struct {
	name, title, kind string
	output            []byte // truncated
	denialSent        bool   // the end was sent with the denial
}

// displayName returns the tool's name for the client.
func (call *tool) displayName() string { return cmp.Or(call.name, call.title, call.kind) }

func newServerTurn(id, agent string) *turn {
	return &turn{id: id, agent: agent, tools: map[string]*tool{}}
}

// part returns an open part, and opens it if necessary.
func (t *turn) part(e *protocol.Event, id string, kind protocol.Kind) *part {
	i := slices.IndexFunc(t.parts, func(p *part) bool { return p.id == id && p.kind == kind })
	if i >= 0 {
		return t.parts[i]
	}
	p := &part{id: id, kind: kind, agent: t.agent, buffered: e.Task != "" || e.Parent != ""}
	if len(t.parts) < wire.MaxOpenItems {
		t.parts = append(t.parts, p)
	}
	return p
}

// tool returns an open tool, and opens it if necessary.
func (t *turn) tool(id string) *tool {
	if call := t.tools[id]; call != nil {
		return call
	}
	call := &tool{}
	if len(t.tools) < wire.MaxOpenItems {
		t.tools[id] = call
	}
	return call
}

// sendChunk streams text of the turn's message. A blank line separates parts.
func (s *Conn) sendChunk(c *conversation, p *part, text string) {
	t := c.turn
	if text == "" {
		return
	}
	if !p.started && len(t.content) > 0 {
		text = "\n\n" + text
	}
	p.started = true
	t.content = append(t.content, text[:min(len(text), wire.MaxContent-len(t.content))]...)
	if c.chat != nil {
		s.sendChatDelta(text)
		return
	}
	s.send(wire.Frame{
		Type: wire.TypeChunk, Conversation: c.id, Payload: wire.MessageChunk{Message: t.id, Chunk: text, Agent: p.agent},
	})
}

// appendText handles a delta of a part.
func (s *Conn) appendText(c *conversation, p *part, text string) {
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
func (s *Conn) flushPart(c *conversation, p *part) {
	if len(p.buffer) == 0 {
		return
	}
	text := string(p.buffer)
	p.buffer = nil
	switch {
	case p.kind == protocol.KindText:
		s.sendChunk(c, p, text)
	case c.thinking:
		s.send(wire.Frame{
			Type: wire.TypeThought, Payload: wire.WorkflowThought{ID: p.agent, Agent: p.agent, Conversation: c.id, Reason: text},
		})
	}
}

// encodeTurnEnded sends the end of the turn.
func (s *Conn) encodeTurnEnded(c *conversation, d *protocol.TurnEndedData) {
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
		done := wire.MessageComplete{
			Message: t.id, Content: protocol.ValidText(string(t.content)), Agent: t.agent,
			Metadata: wire.Metadata{Duration: d.DurationMS},
		}
		if d.Usage != nil {
			done.Metadata.Tokens = d.Usage.Output
		}
		if c.chat != nil {
			s.sendChatDone(c, done)
			return
		}
		s.send(wire.Frame{Type: wire.TypeComplete, Conversation: c.id, Payload: done})
	case protocol.ReasonInterrupted:
		s.sendError(c.id, wire.CodeCancelled, "Stream cancelled")
	case protocol.ReasonDenied:
		s.sendError(c.id, wire.CodeCancelled, "Stream cancelled: a tool was rejected")
	default:
		code := wire.CodeStreamError
		if t.toolRequest {
			code = wire.CodeRequestFailed
		}
		s.sendError(c.id, code, why)
	}
}
