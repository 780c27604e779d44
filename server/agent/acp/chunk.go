package acp

import (
	"bytes"
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
	chunkStart   = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"`
	chunkUpdate  = `,"update":{"sessionUpdate":"`
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
	rest, ok := bytes.CutPrefix(line, []byte(chunkStart))
	if !ok {
		return chunk{}, false
	}
	session, rest, ok := cutName(rest)
	if !ok {
		return chunk{}, false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(chunkUpdate)); !ok {
		return chunk{}, false
	}
	update, rest, ok := cutName(rest)
	switch {
	case ok && string(update) == messageChunk:
		c.kind = protocol.KindText
	case ok && string(update) == thoughtChunk:
		c.kind = protocol.KindReasoning
	default:
		return chunk{}, false
	}
	message, rest, first := cutMessage(rest)
	if rest, ok = bytes.CutPrefix(rest, []byte(chunkText)); !ok {
		return chunk{}, false
	}
	if c.text, rest, ok = cutText(rest); !ok {
		return chunk{}, false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(`}`)); !ok {
		return chunk{}, false
	}
	if !first {
		message, rest, _ = cutMessage(rest)
	}
	c.session, c.message = string(session), string(message)
	return c, string(rest) == chunkEnd
}

// cutMessage cuts the id of a message, if it is next.
func cutMessage(b []byte) (id, rest []byte, ok bool) {
	if rest, ok = bytes.CutPrefix(b, []byte(chunkMessage)); !ok {
		return nil, b, false
	}
	if id, rest, ok = cutName(rest); !ok {
		return nil, b, false
	}
	return id, rest, true
}

// cutName cuts the rest of a string of plain ASCII.
func cutName(b []byte) (name, rest []byte, ok bool) {
	for i, c := range b {
		switch {
		case c == '"':
			return b[:i], b[i+1:], true
		case c < ' ' || c > '~' || c == '\\':
			return nil, nil, false
		}
	}
	return nil, nil, false
}

// cutText cuts the rest of a string.
func cutText(b []byte) (text string, rest []byte, ok bool) {
	end := stringEnd(b)
	if end < 0 || !utf8.Valid(b[:end]) {
		return "", nil, false
	}
	for _, c := range b[:end] {
		if c < ' ' {
			return "", nil, false
		}
	}
	text, ok = unescape(b[:end])
	return text, b[end+1:], ok
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
	lane, replay := c.laneFor(session)
	if lane == nil || replay != nil {
		return nil
	}
	return lane.ready()
}
