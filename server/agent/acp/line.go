package acp

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"agentctl/protocol"
)

// The kinds of updates with text of the agent.
const (
	messageChunk = "agent_message_chunk"
	thoughtChunk = "agent_thought_chunk"
)

// The fixed parts of a chunk in the form that agents send.
const (
	updateStart  = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"`
	chunkKind    = `,"update":{"sessionUpdate":"`
	chunkMessage = `,"messageId":"`
	chunkText    = `,"content":{"type":"text","text":"`
	chunkEnd     = `}}}`
)

// A chunk is a notification with text of a message or of reasoning.
type chunk struct {
	session, message string
	kind             protocol.Kind
	text             string
}

// parseChunk parses a chunk in the form that agents send, in one pass. It reports false for every
// other form, which is then decoded as JSON. The result has no reference to line.
func parseChunk(line []byte) (c chunk, ok bool) {
	s := scanner{line}
	var session, kind, message []byte
	ok = s.skip(updateStart) && s.name(&session) && s.skip(chunkKind) && s.name(&kind) &&
		(!s.skip(chunkMessage) || s.name(&message)) && s.skip(chunkText) && s.text(&c.text) && s.skip(`}`) &&
		(message != nil || !s.skip(chunkMessage) || s.name(&message)) && string(s.rest) == chunkEnd
	switch string(kind) {
	case messageChunk:
		c.kind = protocol.KindText
	case thoughtChunk:
		c.kind = protocol.KindReasoning
	default:
		ok = false
	}
	c.session, c.message = string(session), string(message)
	return c, ok
}

// parseUpdate parses an update of a tool or of the plan in the form that agents send: it is
// validated once, and its fields are decoded one by one. It reports false for every other form and
// every other update, which are then decoded as JSON. The result has no reference to line.
func parseUpdate(line []byte) (session string, u *update, ok bool) {
	s := scanner{line}
	var name []byte
	if !s.skip(updateStart) || !s.name(&name) || !s.skip(`,"update":`) {
		return "", nil, false
	}
	u = new(update)
	raw, ok := bytes.CutSuffix(s.rest, []byte(`}}`))
	if !ok || !utf8.Valid(raw) || !json.Valid(raw) || !eachField(raw, u.decodeField) {
		return "", nil, false
	}
	switch u.Kind {
	case "tool_call", "tool_call_update", "plan":
		return string(name), u, true
	}
	return "", nil, false
}

// decodeField decodes a field of an update. It returns false for a field that updates of tools and
// of the plan do not have.
func (u *update) decodeField(name, value []byte) bool {
	switch string(name) {
	case "sessionUpdate":
		return decodeText(value, &u.Kind)
	case "toolCallId":
		return decodeText(value, &u.ID)
	case "name":
		return decodeText(value, &u.Name)
	case "title":
		return decodeText(value, &u.Title)
	case "kind":
		return decodeText(value, &u.ToolKind)
	case "status":
		return decodeText(value, &u.Status)
	case "content":
		u.Content = bytes.Clone(value)
	case "rawInput":
		u.Input = bytes.Clone(value)
	case "rawOutput":
		u.Output = bytes.Clone(value)
	case "locations":
		return decode(value, &u.Locations) == nil
	case "entries":
		return decode(value, &u.Entries) == nil
	case "_meta":
		return decode(value, &u.Meta) == nil
	default:
		return false
	}
	return true
}

// decodeText decodes a string. Any other value leaves text as it is, as decode does.
func decodeText(value []byte, text *string) bool {
	ok := true
	if value[0] == '"' {
		*text, ok = unescape(value[1 : len(value)-1])
	}
	return ok
}

// HandleLine implements rpc.Handler: it applies a chunk, or an update of a tool or of the plan, to
// the turn of its session.
func (c *client) HandleLine(line []byte) bool {
	if !c.wire.decodesLines() {
		return false
	}
	if k, ok := parseChunk(line); ok {
		turn := c.turnFor(k.session)
		return turn != nil && turn.applyText(k.kind, k.message, k.text)
	}
	session, u, ok := parseUpdate(line)
	if !ok {
		return false
	}
	turn := c.turnFor(session)
	return turn != nil && turn.apply(u)
}

// turnFor returns the turn that an update of an ACP session belongs to, unless it has to wait; nil:
// none.
func (c *client) turnFor(session string) *turn {
	to := c.targetOf(session)
	if to.lane == nil || to.replay != nil {
		return nil
	}
	return to.lane.ready()
}
