package client

import (
	"encoding/json"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// causeError converts the cause of a failed request.
func causeError(c *wire.Cause) *protocol.Error {
	switch c.Tag {
	case wire.CauseFail:
		return nativeError(c.Error)
	case wire.CauseDie:
		return protocol.Errorf(protocol.CodeInternal, "the server failed: %s", wire.DefectText(c.Defect))
	}
	return protocol.Errorf(protocol.CodeInternal, "the server interrupted the request")
}

// nativeError decodes an error of either tag set.
func nativeError(raw json.RawMessage) *protocol.Error {
	s := codec.String(raw)
	var t wire.TypedError
	_ = json.Unmarshal(raw, &t)
	switch {
	case s == wire.NoSessionDocument, t.Tag == wire.SessionNotFound:
		return protocol.Errorf(protocol.CodeNoSession, "no such session")
	case t.Tag == wire.ApprovalNotFound:
		return protocol.Errorf(protocol.CodeNotFound, "no such request is pending")
	case s != "":
		return protocol.Errorf(nativeCode(s), "the server refused: %.200s", s)
	case t.Message != "":
		return protocol.Errorf(nativeCode(t.Code), "%.500s", t.Message)
	}
	return protocol.Errorf(protocol.CodeInternal, "the server refused without a reason")
}

// nativeCode returns the native code that agentctl's server sent in capitals, or internal.
func nativeCode(code string) protocol.Code {
	switch c := protocol.Code(strings.ToLower(code)); c {
	case protocol.CodeSessionClosed, protocol.CodeForbidden, protocol.CodeTooLarge, protocol.CodeTooMany,
		protocol.CodeQueueFull, protocol.CodeStorage, protocol.CodeInvalidMessage, protocol.CodeAmbiguous,
		protocol.CodeNoAgent, protocol.CodeUnsupported, protocol.CodeNotFound,
		protocol.CodeCorrupt:
		return c
	}
	return protocol.CodeInternal
}
