package wire

import "agentctl/protocol"

// Error messages of the AgentLoop server.
const (
	NotInitialized   = "AgentLoop not initialized"
	InputFailed      = "Failed to process user input"
	InvalidFormat    = "Invalid message format"
	UnknownType      = "Unknown message type: "
	NothingPending   = "No pending approval request"
	contextFailed    = "Failed to get context info"
	CompactingFailed = "Failed to compact context"
	ApprovalFailed   = "Failed to process approval response"
)

// KnownCodes are the native codes that agentctl's server puts into details.
var KnownCodes = []protocol.Code{
	protocol.CodeNoSession, protocol.CodeSessionClosed, protocol.CodeForbidden, protocol.CodeUnsupported,
	protocol.CodeConflict, protocol.CodeNotFound, protocol.CodeTooLarge, protocol.CodeTooMany,
	protocol.CodeQueueFull, protocol.CodeNoAgent, protocol.CodeAgentAuth,
	protocol.CodeTimeout, protocol.CodeAgentFailed, protocol.CodeShuttingDown, protocol.CodeStorage,
	protocol.CodeServerRestart, protocol.CodeInvalidMessage, protocol.CodeCorrupt,
}
