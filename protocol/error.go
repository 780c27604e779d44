package protocol

import (
	"errors"
	"fmt"
)

// A Code is a stable error code: scripts and clients branch on it. Codes are added, never renamed.
type Code string

// The error codes.
const (
	CodeInvalidJSON     Code = "invalid_json"        // not JSON, not UTF-8, or not a text message
	CodeInvalidMessage  Code = "invalid_message"     // not a command: a wrong, missing, unknown or duplicate field
	CodeUnknownCommand  Code = "unknown_command"     // no such command in this version
	CodeUnsupported     Code = "unsupported"         // known, but not possible with this agent, session or server
	CodeInvalidPosition Code = "invalid_position"    // not EPOCH:SEQ
	CodeNoSession       Code = "no_session"          // no session has that id, name or prefix
	CodeAmbiguous       Code = "ambiguous"           // the id prefix matches several sessions
	CodeSessionClosed   Code = "session_closed"      // the session is closed: it can be read, not changed
	CodeNotFound        Code = "not_found"           // no such message, request, rule, task, turn or blob
	CodeConflict        Code = "conflict"            // another user was first; see Winner
	CodeNameTaken       Code = "name_taken"          // another session has that name
	CodeKeyReused       Code = "key_reused"          // the key was used with another body
	CodeTooLarge        Code = "too_large"           // over a size limit; Limit is in bytes
	CodeTooMany         Code = "too_many"            // over a count limit; see Limit
	CodeQueueFull       Code = "queue_full"          // the session's queue; Limit is in messages or bytes
	CodeSessionLimit    Code = "session_limit"       // the server has too many sessions; see Limit
	CodeAgentLimit      Code = "agent_limit"         // too many agents run; see Limit
	CodeDiskLimit       Code = "disk_limit"          // sessions use too much disk; Limit is in bytes
	CodeConnectionLimit Code = "connection_limit"    // too many connections are open; see Limit
	CodeUnauthorized    Code = "unauthorized"        // no valid credential
	CodeForbidden       Code = "forbidden"           // valid credential, insufficient role
	CodeNoAgent         Code = "no_agent"            // no such agent, or it cannot be started
	CodeAgentAuth       Code = "agent_auth_required" // the agent requires its own login
	CodeAgentFailed     Code = "agent_failed"        // the agent failed or answered with an error
	CodeLimited         Code = "limited"             // a usage limit of the agent's account ended the turn
	CodeTimeout         Code = "timeout"             // a deadline passed
	CodeStorage         Code = "storage_unavailable" // nothing was changed; retry
	CodeCorrupt         Code = "corrupt"             // a part of the stored session is damaged; see the message
	CodeShuttingDown    Code = "shutting_down"       // the server stops; reconnect
	CodeServerRestart   Code = "server_restart"      // a restart of the server ended the turn
	CodeNotSubscribed   Code = "not_subscribed"      // the connection is not subscribed to that session
	CodeInvalidState    Code = "invalid_state"       // an exported state is malformed, forged or expired
	CodeInternal        Code = "internal"            // a server error; details are in its log
)

// Error is an error on the wire. Message states the problem and the remedy, without internal
// detail.
type Error struct {
	Code    Code    `json:"code"`
	Message string  `json:"message"`
	Limit   int64   `json:"limit,omitempty"`  // with too_large (bytes) and too_many
	Winner  *Winner `json:"winner,omitempty"` // with conflict
}

// Winner is the first decision on an approval.
type Winner struct {
	By       Actor    `json:"by"`
	Outcome  Outcome  `json:"outcome"`
	Decision Decision `json:"decision,omitempty"`
	Option   string   `json:"option,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Errorf returns an Error with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Exceeded returns an error about something that is larger than a limit, or more than it.
func Exceeded[N int | int64](code Code, limit N, message string) *Error {
	return &Error{Code: code, Limit: int64(limit), Message: message}
}

// AsError returns the Error in err's chain. Any other error becomes internal with a fixed message,
// because its text may hold paths, SQL or secrets. The caller logs err.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeInternal, Message: "internal error; see the server's log"}
}

// CodeOf returns the code of err: "" for nil, internal for an error without a code.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return AsError(err).Code
}

// WebSocket close codes, in addition to RFC 6455's.
const (
	CloseGoingAway = 1001 // the server drains; reconnect
	ClosePolicy    = 1008 // credential missing, bad or expired; do not reconnect
	CloseTooLarge  = 1009 // a message over the limit
	CloseSlow      = 1013 // the client read nothing for too long; reconnect and resume
)

// Codes lists the codes of this version.
var Codes = []Code{
	CodeInvalidJSON,
	CodeInvalidMessage,
	CodeUnknownCommand,
	CodeUnsupported,
	CodeInvalidPosition,
	CodeNoSession,
	CodeAmbiguous,
	CodeSessionClosed,
	CodeNotFound,
	CodeConflict,
	CodeNameTaken,
	CodeKeyReused,
	CodeTooLarge,
	CodeTooMany,
	CodeQueueFull,
	CodeSessionLimit,
	CodeAgentLimit,
	CodeDiskLimit,
	CodeConnectionLimit,
	CodeUnauthorized,
	CodeForbidden,
	CodeNoAgent,
	CodeAgentAuth,
	CodeAgentFailed,
	CodeLimited,
	CodeTimeout,
	CodeStorage,
	CodeCorrupt,
	CodeShuttingDown,
	CodeServerRestart,
	CodeNotSubscribed,
	CodeInvalidState,
	CodeInternal,
}
