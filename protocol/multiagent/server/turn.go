package server

import (
	"cmp"
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
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

func newTurn(id, agent string, m *protocol.Message) *turn {
	return &turn{
		id: id, agent: agent, message: m.MessageID, toolRequest: wire.IsToolRequest(m.Text), tools: map[string]*tool{},
	}
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

// chunk streams text of the turn's message. A blank line separates parts.
func (c *conversation) chunk(p *part, text string) []codec.Frame {
	t := c.turn
	if text == "" {
		return nil
	}
	if !p.started && len(t.content) > 0 {
		text = "\n\n" + text
	}
	p.started = true
	t.content = append(t.content, text[:min(len(text), wire.MaxContent-len(t.content))]...)
	if c.chat != nil {
		return []codec.Frame{chatDelta(text)}
	}
	return []codec.Frame{c.frame(wire.TypeChunk, wire.MessageChunk{Message: t.id, Chunk: text, Agent: p.agent})}
}

// appendText appends a delta to a part.
func (c *conversation) appendText(p *part, text string) []codec.Frame {
	if !p.buffered && p.kind == protocol.KindText {
		return c.chunk(p, text)
	}
	if p.buffer = append(p.buffer, text...); len(p.buffer) > protocol.MaxJoined {
		return c.flushPart(p)
	}
	return nil
}

// flushPart sends the buffered text of a part.
func (c *conversation) flushPart(p *part) []codec.Frame {
	text := string(p.buffer)
	p.buffer = nil
	switch {
	case text == "":
	case p.kind == protocol.KindText:
		return c.chunk(p, text)
	case c.thinking:
		return []codec.Frame{c.thought(p.agent, text)}
	}
	return nil
}

// encodeTurnEnded encodes the end of the turn.
func (c *conversation) encodeTurnEnded(d *protocol.TurnEndedData) (frames []codec.Frame) {
	t := c.turn
	for _, p := range t.parts {
		frames = append(frames, c.flushPart(p)...)
	}
	for _, r := range c.approvals {
		var result json.RawMessage
		if r.allowed {
			result = json.RawMessage("{}") // null would mean a rejection
		}
		frames = append(frames, c.executed(r.id, r.name, result, "the turn ended"))
		frames = append(frames, c.rejection(r)...)
	}
	c.turn, c.approvals = nil, nil
	return append(frames, c.encodeEnd(t, d))
}

// encodeEnd encodes the end of a turn, after everything that was open in it.
func (c *conversation) encodeEnd(t *turn, d *protocol.TurnEndedData) codec.Frame {
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
			return c.chat.done(c.id, done)
		}
		return c.frame(wire.TypeComplete, done)
	case protocol.ReasonInterrupted:
		return c.failure(wire.CodeCancelled, "Stream cancelled")
	case protocol.ReasonDenied:
		return c.failure(wire.CodeCancelled, wire.CancelledByDenial)
	}
	code := wire.CodeStreamError
	if t.toolRequest {
		code = wire.CodeRequestFailed
	}
	return c.failure(code, cmp.Or(d.Message, string(d.Reason)))
}
