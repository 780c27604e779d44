package wire

import (
	"encoding/json"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Tags of @effect/rpc messages.
const (
	TagRequest   = "Request"
	TagAck       = "Ack"
	TagInterrupt = "Interrupt"
	TagPing      = "Ping"
	TagEOF       = "Eof"
	TagExit      = "Exit"
	TagChunk     = "Chunk"
	TagDefect    = "Defect"
	TagPong      = "Pong"
)

// A Message is an incoming @effect/rpc message with undecoded fields.
type Message struct {
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

// RequestID decodes an id from a string or a number.
func RequestID(raw json.RawMessage) (id string, ok bool) {
	if len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
		id = string(raw)
	} else {
		id = codec.String(raw)
	}
	return id, id != "" && len(id) <= maxRequestID
}

// A RequestMessage starts a request.
type RequestMessage struct {
	Tag     string          `json:"_tag"`
	ID      string          `json:"id"`
	Name    string          `json:"tag"`
	Payload json.RawMessage `json:"payload"`
	Headers []string        `json:"headers"` // required by the peer
}

// A ControlMessage is a message without content.
type ControlMessage struct {
	Tag       string `json:"_tag"`
	RequestID string `json:"requestId,omitempty"`
}

// A ChunkMessage carries values of a stream, at least one.
type ChunkMessage struct {
	Tag       string            `json:"_tag"`
	RequestID string            `json:"requestId"`
	Values    []json.RawMessage `json:"values"`
}

// An exitMessage ends a request.
type exitMessage struct {
	Tag       string     `json:"_tag"`
	RequestID string     `json:"requestId"`
	Exit      ExitResult `json:"exit"`
}

// An ExitResult is Success with a value (none for void), or Failure with a cause.
type ExitResult struct {
	Tag   string          `json:"_tag"`
	Value json.RawMessage `json:"value,omitzero"`
	Cause *Cause          `json:"cause,omitempty"`
}

// A Cause is Fail with an error, Die with a defect, Interrupt, Empty, or two causes: Sequential or
// Parallel.
type Cause struct {
	Tag     string          `json:"_tag"`
	Error   json.RawMessage `json:"error,omitzero"`
	Defect  json.RawMessage `json:"defect,omitzero"`
	FiberID json.RawMessage `json:"fiberId,omitzero"`
	Left    *Cause          `json:"left,omitempty"`
	Right   *Cause          `json:"right,omitempty"`
}

// Results and causes.
const (
	ExitSuccess    = "Success"
	ExitFailure    = "Failure"
	CauseFail      = "Fail"
	CauseDie       = "Die"
	causeInterrupt = "Interrupt"
)

// A DefectMessage ends all requests of the connection.
type DefectMessage struct {
	Tag    string `json:"_tag"`
	Defect any    `json:"defect"`
}

// interruptedBy is the fiber id that the real server writes without a fiber.
var interruptedBy = json.RawMessage(`{"_tag":"Runtime","id":-499,"startTimeMillis":0}`)

// SuccessExit ends a request with a result; nil: void.
func SuccessExit(id string, value any) []byte {
	o := ExitResult{Tag: ExitSuccess}
	if value != nil {
		o.Value = protocol.MustEncode(value)
	}
	return protocol.MustEncode(exitMessage{TagExit, id, o})
}

// FailureExit ends a request with an error.
func FailureExit(id string, err any) []byte {
	return protocol.MustEncode(exitMessage{
		TagExit, id, ExitResult{Tag: ExitFailure, Cause: &Cause{Tag: CauseFail, Error: protocol.MustEncode(err)}},
	})
}

// DefectExit ends a request that the server could not carry out.
func DefectExit(id, why string) []byte {
	return protocol.MustEncode(exitMessage{
		TagExit, id, ExitResult{Tag: ExitFailure, Cause: &Cause{Tag: CauseDie, Defect: protocol.MustEncode(why)}},
	})
}

// InterruptExit ends a request that the client interrupted.
func InterruptExit(id string) []byte {
	return protocol.MustEncode(exitMessage{
		TagExit, id, ExitResult{Tag: ExitFailure, Cause: &Cause{Tag: causeInterrupt, FiberID: interruptedBy}},
	})
}

// Primary returns the relevant cause of a tree: the first Fail, else the first Die, else the root.
func (c *Cause) Primary() *Cause {
	var found [2]*Cause
	c.walk(0, func(c *Cause) {
		switch {
		case c.Tag == CauseFail && found[0] == nil:
			found[0] = c
		case c.Tag == CauseDie && found[1] == nil:
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

func (c *Cause) walk(depth int, visit func(*Cause)) {
	if c == nil || depth > 64 {
		return
	}
	visit(c)
	c.Left.walk(depth+1, visit)
	c.Right.walk(depth+1, visit)
}

// maxDefect bounds the text of a defect, in bytes.
const maxDefect = 300

// DefectText returns a defect as text for a user: its message or, for a schema error, which begins
// with a dump of the schema, only the path and the problem there.
func DefectText(raw json.RawMessage) string {
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

// Typed errors of the real system.
const (
	SessionNotFound   = "ChatSessionNotFoundRpcError"
	OperationFailed   = "ChatOperationRpcError"
	ApprovalNotFound  = "ToolApprovalNotFoundRpcError"
	NoSessionDocument = "SESSION_NOT_FOUND"
)

// A TypedError is an error of the real system.
type TypedError struct {
	SessionID  string `json:"sessionId,omitempty"`
	ToolCallID string `json:"toolCallId,omitempty"`
	Message    string `json:"message,omitempty"`
	Code       string `json:"code,omitempty"`
	Tag        string `json:"_tag"`
}

// Bounds of one connection, at both ends.
const (
	MaxRequests      = 256 // open requests, including streams
	MaxSubscriptions = 64  // subscribed sessions
)

// Bounds of one turn, at both ends.
const (
	MaxOpen       = 4096    // parts and tools
	MaxToolOutput = 1 << 20 // bytes of one tool's output that are repeated
	MaxToolsBytes = 8 << 20 // of all tools
)
