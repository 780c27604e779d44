package server

import (
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/sandcastle/wire"
)

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
