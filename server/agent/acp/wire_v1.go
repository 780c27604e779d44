package acp

import (
	"context"
	"encoding/json"

	"agentctl/server/agent/acp/rpc"
)

// wireV1 is version 1 of the protocol.
type wireV1 struct{}

func (wireV1) version() int { return 1 }

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
