package multiagent

import (
	"cmp"
	"encoding/json"
	"slices"

	"agentctl/protocol"
)

// A turn is one message of the dialect: everything that an agent says in it joins to one content.
type turn struct {
	id    string
	agent string

	content []byte
	parts   []*part
	tools   map[string]*tool
}

// A part is a text or reasoning part. What belongs to a task or to another tool is kept until its end, so that what is said at the
// same time is not mixed.
type part struct {
	id     string
	kind   protocol.Kind
	agent  string
	whole  bool // it is said at its end
	spoken bool
	kept   []byte
}

type tool struct {
	name, title, kind string
	output            []byte // the end of it is cut
	told              bool   // that it will not run
}

// called is what the client is told that a tool is called.
func (k *tool) called() string { return cmp.Or(k.name, k.title, k.kind) }

func newTurn(id, agent string) *turn { return &turn{id: id, agent: agent, tools: map[string]*tool{}} }

// part returns a part that is open.
func (t *turn) part(e *protocol.Event, id string, kind protocol.Kind) *part {
	i := slices.IndexFunc(t.parts, func(p *part) bool { return p.id == id && p.kind == kind })
	if i >= 0 {
		return t.parts[i]
	}
	p := &part{id: id, kind: kind, agent: t.agent, whole: e.Task != "" || e.Parent != ""}
	if len(t.parts) < maxOpen {
		t.parts = append(t.parts, p)
	}
	return p
}

// tool returns a tool that runs.
func (t *turn) tool(id string) *tool {
	if k := t.tools[id]; k != nil {
		return k
	}
	k := &tool{}
	if len(t.tools) < maxOpen {
		t.tools[id] = k
	}
	return k
}

// speak streams text of the turn's message. Parts are set apart by an empty line.
func (s *Server) speak(c *conversation, p *part, text string) {
	t := c.turn
	if text == "" {
		return
	}
	if !p.spoken && len(t.content) > 0 {
		text = "\n\n" + text
	}
	p.spoken = true
	t.content = append(t.content, text[:min(len(text), maxContent-len(t.content))]...)
	s.say(frame{Type: typeChunk, Conversation: c.id, Payload: chunk{Message: t.id, Chunk: text, Agent: p.agent}})
}

// text takes a delta of a part.
func (s *Server) text(c *conversation, p *part, text string) {
	if !p.whole && p.kind == protocol.KindText {
		s.speak(c, p, text)
		return
	}
	p.kept = append(p.kept, text...)
	if len(p.kept) > protocol.MaxJoined {
		s.utter(c, p)
	}
}

// utter says what a part kept.
func (s *Server) utter(c *conversation, p *part) {
	if len(p.kept) == 0 {
		return
	}
	text := string(p.kept)
	p.kept = nil
	switch {
	case p.kind == protocol.KindText:
		s.speak(c, p, text)
	case c.thinking:
		s.say(frame{Type: typeThought, Payload: thought{ID: p.agent, Agent: p.agent, Conversation: c.id, Reason: text}})
	}
}

// ended says how the turn ended.
func (s *Server) ended(c *conversation, d *protocol.TurnEndedData) {
	t := c.turn
	for _, p := range t.parts {
		s.utter(c, p)
	}
	for _, r := range c.asks {
		var result json.RawMessage
		if r.allowed {
			result = json.RawMessage("{}") // null would say that it was rejected
		}
		s.executed(c, r.id, r.name, result, "the turn ended")
	}
	c.turn, c.asks = nil, nil
	why := d.Message
	if why == "" {
		why = string(d.Reason)
	}
	switch d.Reason {
	case protocol.ReasonCompleted:
		done := complete{Message: t.id, Content: protocol.ValidText(string(t.content)), Agent: t.agent, Metadata: metadata{Duration: d.DurationMS}}
		if d.Usage != nil {
			done.Metadata.Tokens = d.Usage.Output
		}
		s.say(frame{Type: typeComplete, Conversation: c.id, Payload: done})
	case protocol.ReasonInterrupted:
		s.fail(c.id, cancelled, "Stream cancelled")
	case protocol.ReasonDenied:
		s.fail(c.id, cancelled, "Stream cancelled: a tool was rejected")
	default:
		s.fail(c.id, streamError, why)
	}
}
