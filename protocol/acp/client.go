package acp

import (
	"encoding/json"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A client is the program at the other end of a connection. The parts of a connection send to it, and
// send commands in its name.
type client struct {
	codec.ServerBase
	version      int // negotiated; 0 before initialize
	capabilities clientCapabilities
	hello        protocol.HelloResult
	flush        time.Time // when output of tools that waits is sent; zero: none waits
}

// write sends a message.
func (c *client) write(m *rpcMessage) {
	m.Version = "2.0"
	c.Send(codec.Frame{Data: protocol.MustEncode(m)})
}

// answer answers a request of the client.
func (c *client) answer(id json.RawMessage, result object) {
	c.write(&rpcMessage{ID: id, Result: result})
}

// fail answers a request of the client with an error. Without an id the client asked for no answer.
func (c *client) fail(id json.RawMessage, e *rpcError) {
	if len(id) > 0 {
		c.write(&rpcMessage{ID: id, Error: e})
	}
}

// refuse answers a request with an error of agentctl.
func (c *client) refuse(id json.RawMessage, code protocol.Code, format string, args ...any) {
	c.fail(id, errorOf(protocol.Errorf(code, format, args...)))
}

// notify sends a notification.
func (c *client) notify(method string, params object) {
	c.write(&rpcMessage{Method: method, Params: params})
}

// change sends a command that changes a session, and answers the request with the result.
func (c *client) change(r *request, verb protocol.Verb, session string, data any, result func() object) {
	c.Request(verb, session, c.Options.ID("acp"), data, func(a protocol.Answer) {
		if a.Error != nil {
			c.fail(r.ID, errorOf(a.Error))
			return
		}
		c.answer(r.ID, result())
	})
}

// decides reports whether the user of the client may decide requests. An agent never does.
func (c *client) decides() bool {
	return c.hello.Role != protocol.RoleAgent && c.hello.Role.May(protocol.DoApprove)
}

// meta returns agentctl's part of the extensions of a message.
func meta(fields object) object { return object{"agentctl": fields} }

// decode decodes the parameters of a request. A request with others is answered, and ok is false.
func decode[T any](c *client, r *request) (p T, ok bool) {
	if err := json.Unmarshal(r.Params, &p); err != nil {
		c.fail(r.ID, &rpcError{
			Code: codeInvalidParams, Message: "invalid params: " + strings.TrimPrefix(err.Error(), "json: "),
			Data: object{"code": protocol.CodeInvalidMessage},
		})
		return p, false
	}
	return p, true
}
