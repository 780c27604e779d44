package acp

import "agentctl/protocol"

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
