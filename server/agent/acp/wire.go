package acp

import (
	"context"
	"encoding/json"

	"agentctl/server/agent/acp/rpc"
)

// A wire is a version of the protocol. The rest of the package has the form of version 1: a wire
// encodes its requests, and decodes what the agent sends into it. Only the goroutine that reads from
// the agent calls updates and permission; the other methods may be called from any goroutine.
type wire interface {
	// request returns the method and the parameters of a request.
	request(method string, params any) (string, any)
	// result decodes the result of a request.
	result(raw json.RawMessage, v any) error
	// prompt sends a prompt and returns the result of its turn.
	prompt(ctx context.Context, conn *rpc.Conn, p promptParams) (promptResult, error)
	// updates decodes an update of a session, which may stand for none or several. ok is false for an
	// update that it cannot decode.
	updates(raw json.RawMessage) (list []*update, ok bool)
	// permission decodes a request for permission.
	permission(raw json.RawMessage) (permissionParams, error)
	// decodesLines reports whether parseChunk and parseUpdate decode the updates of the agent.
	decodesLines() bool
}

// newWire returns a version of the protocol.
func newWire(version int) wire {
	if version == versionTwo {
		return newWireV2()
	}
	return wireV1{}
}

// call sends a request and decodes its result into v; nil: the result has no content.
func (c *client) call(ctx context.Context, method string, params, v any) error {
	m, p := c.wire.request(method, params)
	raw, err := c.conn.Call(ctx, m, p)
	if err != nil || v == nil {
		return err
	}
	return c.wire.result(raw, v)
}

// wireV1 is version 1 of the protocol.
type wireV1 struct{}

func (wireV1) decodesLines() bool { return true }

func (wireV1) request(method string, params any) (string, any) { return method, params }

func (wireV1) result(raw json.RawMessage, v any) error { return decode(raw, v) }

func (wireV1) prompt(ctx context.Context, conn *rpc.Conn, p promptParams) (result promptResult, err error) {
	raw, err := conn.Call(ctx, "session/prompt", p)
	if err == nil {
		err = decode(raw, &result)
	}
	return result, err
}

func (wireV1) updates(raw json.RawMessage) (list []*update, ok bool) {
	var u update
	if !exactNames(raw) || decode(raw, &u) != nil || u.Kind == "" {
		return nil, false
	}
	return []*update{&u}, true
}

func (wireV1) permission(raw json.RawMessage) (p permissionParams, err error) {
	if err = decode(raw, &p); err == nil && !exactNames(raw) {
		err = errInexactNames
	}
	return p, err
}
