package server

import (
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// An exchange has the open requests of a foreign client, and sends native commands for them, on one
// connection.
type exchange struct {
	codec.ServerBase
	calls map[string]*rpcCall // by request id
}

// An rpcCall is an open request.
type rpcCall struct {
	id    string
	op    wire.Operation
	typed bool // errors are the real system's
	wire.Payload
	stream *stream // of wire.OpSubscribe
	ended  bool    // later answers are dropped
	onEnd  func()  // nil: none
}

func (x *exchange) send(lines ...[]byte) { x.Send(wire.TextFrame(lines...)) }

// sendDefect sends an error that belongs to no request.
func (x *exchange) sendDefect(why any) {
	x.send(protocol.MustEncode(wire.DefectMessage{Tag: wire.TagDefect, Defect: why}))
}

// end ends a call with its last message.
func (x *exchange) end(c *rpcCall, last []byte) {
	if c.ended {
		return
	}
	c.ended = true
	delete(x.calls, c.id)
	x.send(last)
	if c.onEnd != nil {
		c.onEnd()
	}
}

// succeed ends a call with a result.
func (x *exchange) succeed(c *rpcCall, result any) { x.end(c, wire.SuccessExit(c.id, result)) }

// fail ends a call with a native error.
func (x *exchange) fail(c *rpcCall, err *protocol.Error) {
	x.end(c, wire.FailureExit(c.id, foreignError(err, &c.Payload, c.op, c.typed)))
}

// request sends a native command and calls then with the result. An error ends the call instead.
func request[T any](x *exchange, c *rpcCall, verb protocol.Verb, session, key string, data any, then func(T)) {
	x.Request(verb, session, key, data, func(a protocol.Answer) {
		r, err := codec.DecodeResult[T](a)
		if err != nil {
			x.fail(c, err)
			return
		}
		then(r)
	})
}

// forward sends a native command and ends the call with the encoded result or the error.
func forward[T any](x *exchange, c *rpcCall, verb protocol.Verb, session string, data any, encode func(T) any) {
	request(x, c, verb, session, "", data, func(r T) { x.succeed(c, encode(r)) })
}

// readState calls then with the state of a call's session.
func (x *exchange) readState(c *rpcCall, then func(*protocol.State)) {
	request(x, c, protocol.DoSnapshot, c.SessionID, "", nil, func(r protocol.SnapshotResult) {
		if r.Snapshot.State == nil {
			x.fail(c, protocol.Errorf(protocol.CodeInternal, "internal error"))
			return
		}
		then(r.Snapshot.State)
	})
}

// foreignError encodes a native error for a tag set.
func foreignError(e *protocol.Error, p *wire.Payload, op wire.Operation, typed bool) any {
	code := strings.ToUpper(string(e.Code))
	switch {
	case e.Code == protocol.CodeNoSession && !typed:
		return wire.NoSessionDocument
	case !typed:
		return code
	case op == wire.OpApproval && (e.Code == protocol.CodeNoSession || e.Code == protocol.CodeNotFound ||
		e.Code == protocol.CodeConflict):
		return wire.TypedError{ToolCallID: p.Response.ToolCallID, Tag: wire.ApprovalNotFound}
	case e.Code == protocol.CodeNoSession:
		return wire.TypedError{SessionID: p.SessionID, Tag: wire.SessionNotFound}
	}
	return wire.TypedError{Message: e.Message, Code: code, Tag: wire.OperationFailed}
}
