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
	// version returns the number of the version.
	version() int
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
