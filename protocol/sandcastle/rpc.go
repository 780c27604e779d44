package sandcastle

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Tags of @effect/rpc messages.
const (
	tagRequest   = "Request"
	tagAck       = "Ack"
	tagInterrupt = "Interrupt"
	tagPing      = "Ping"
	tagEOF       = "Eof"
	tagExit      = "Exit"
	tagChunk     = "Chunk"
	tagDefect    = "Defect"
	tagPong      = "Pong"
)

// A message is an incoming @effect/rpc message with undecoded fields.
type message struct {
	Tag       json.RawMessage   `json:"_tag"`
	ID        json.RawMessage   `json:"id"`
	Name      json.RawMessage   `json:"tag"`
	Payload   json.RawMessage   `json:"payload"`
	RequestID json.RawMessage   `json:"requestId"`
	Exit      json.RawMessage   `json:"exit"`
	Values    []json.RawMessage `json:"values"`
	Defect    json.RawMessage   `json:"defect"`
}

// maxRequestID bounds the id of a request, in bytes.
const maxRequestID = 64

// requestID decodes an id from a string or a number.
func requestID(raw json.RawMessage) (id string, ok bool) {
	if len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
		id = string(raw)
	} else {
		id = codec.String(raw)
	}
	return id, id != "" && len(id) <= maxRequestID
}

// A requestMessage starts a request.
type requestMessage struct {
	Tag     string          `json:"_tag"`
	ID      string          `json:"id"`
	Name    string          `json:"tag"`
	Payload json.RawMessage `json:"payload"`
	Headers []string        `json:"headers"` // required by the peer
}

// A controlMessage is a message without content.
type controlMessage struct {
	Tag       string `json:"_tag"`
	RequestID string `json:"requestId,omitempty"`
}

// A chunkMessage carries values of a stream, at least one.
type chunkMessage struct {
	Tag       string            `json:"_tag"`
	RequestID string            `json:"requestId"`
	Values    []json.RawMessage `json:"values"`
}

// An exitMessage ends a request.
type exitMessage struct {
	Tag       string     `json:"_tag"`
	RequestID string     `json:"requestId"`
	Exit      exitResult `json:"exit"`
}

// An exitResult is Success with a value (none for void), or Failure with a cause.
type exitResult struct {
	Tag   string          `json:"_tag"`
	Value json.RawMessage `json:"value,omitzero"`
	Cause *cause          `json:"cause,omitempty"`
}

// A cause is Fail with an error, Die with a defect, Interrupt, Empty, or two causes: Sequential or
// Parallel.
type cause struct {
	Tag     string          `json:"_tag"`
	Error   json.RawMessage `json:"error,omitzero"`
	Defect  json.RawMessage `json:"defect,omitzero"`
	FiberID json.RawMessage `json:"fiberId,omitzero"`
	Left    *cause          `json:"left,omitempty"`
	Right   *cause          `json:"right,omitempty"`
}

// Results and causes.
const (
	exitSuccess    = "Success"
	exitFailure    = "Failure"
	causeFail      = "Fail"
	causeDie       = "Die"
	causeInterrupt = "Interrupt"
)

// A defectMessage ends all requests of the connection.
type defectMessage struct {
	Tag    string `json:"_tag"`
	Defect any    `json:"defect"`
}

// interruptedBy is the fiber id that the real server writes without a fiber.
var interruptedBy = json.RawMessage(`{"_tag":"Runtime","id":-499,"startTimeMillis":0}`)

func successExit(id string, value any) []byte {
	o := exitResult{Tag: exitSuccess}
	if value != nil {
		o.Value = protocol.MustEncode(value)
	}
	return protocol.MustEncode(exitMessage{tagExit, id, o})
}

func failureExit(id string, err any) []byte {
	return protocol.MustEncode(exitMessage{
		tagExit, id, exitResult{Tag: exitFailure, Cause: &cause{Tag: causeFail, Error: protocol.MustEncode(err)}},
	})
}

func defectExit(id, why string) []byte {
	return protocol.MustEncode(exitMessage{
		tagExit, id, exitResult{Tag: exitFailure, Cause: &cause{Tag: causeDie, Defect: protocol.MustEncode(why)}},
	})
}

func interruptExit(id string) []byte {
	return protocol.MustEncode(exitMessage{
		tagExit, id, exitResult{Tag: exitFailure, Cause: &cause{Tag: causeInterrupt, FiberID: interruptedBy}},
	})
}

// primary returns the relevant cause of a tree: the first Fail, else the first Die, else the root.
func (c *cause) primary() *cause {
	var found [2]*cause
	c.walk(0, func(c *cause) {
		switch {
		case c.Tag == causeFail && found[0] == nil:
			found[0] = c
		case c.Tag == causeDie && found[1] == nil:
			found[1] = c
		}
	})
	for _, f := range found {
		if f != nil {
			return f
		}
	}
	return c
}

func (c *cause) walk(depth int, visit func(*cause)) {
	if c == nil || depth > 64 {
		return
	}
	visit(c)
	c.Left.walk(depth+1, visit)
	c.Right.walk(depth+1, visit)
}

// maxDefect bounds the text of a defect, in bytes.
const maxDefect = 300

// defectText returns a defect for a person: its message; of a schema's error, which begins with a
// dump of the schema, the path and what is wrong there.
func defectText(raw json.RawMessage) string {
	text := codec.String(raw)
	var named struct{ Message string }
	if text == "" && json.Unmarshal(raw, &named) == nil {
		text = named.Message
	}
	if text == "" {
		text = string(raw)
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	var path []string
	indent := len(text)
	for _, line := range slices.Backward(lines) {
		before, step, ok := strings.Cut(line, "─ ")
		if !ok || len(before) >= indent {
			continue
		}
		indent = len(before)
		path = append(path, step)
	}
	if len(path) > 0 {
		slices.Reverse(path)
		text = strings.Join(path, " ")
	}
	return codec.Truncate(text, maxDefect)
}
