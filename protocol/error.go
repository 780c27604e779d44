package protocol

import (
	"errors"
	"fmt"
)

// A Code names a kind of error for good: scripts and clients branch on it. Codes are never renamed, only added.
type Code string

// The error codes.
const (
	CodeInvalidJSON     Code = "invalid_json"        // not JSON, not UTF-8, or not a text message
	CodeInvalidMessage  Code = "invalid_message"     // JSON, but not a command: wrong types, missing, unknown or doubled fields
	CodeUnknownCommand  Code = "unknown_command"     // no such command in this version
	CodeUnsupported     Code = "unsupported"         // known, but this agent, session or server cannot do it
	CodeInvalidPosition Code = "invalid_position"    // not EPOCH:SEQ
	CodeNoSession       Code = "no_session"          // no session has that id, name or prefix
	CodeAmbiguous       Code = "ambiguous"           // the id prefix fits more than one session
	CodeSessionClosed   Code = "session_closed"      // the session was closed; it can be read, not steered
	CodeNotFound        Code = "not_found"           // no such message, request, rule, task, turn or blob in the session
	CodeConflict        Code = "conflict"            // somebody else was first; Winner tells who
	CodeNameTaken       Code = "name_taken"          // another session has that name
	CodeKeyReused       Code = "key_reused"          // the key was used with another body
	CodeTooLarge        Code = "too_large"           // over a size limit; Limit tells it in bytes
	CodeTooMany         Code = "too_many"            // over a count limit; Limit tells it
	CodeUnauthorized    Code = "unauthorized"        // no valid credential
	CodeForbidden       Code = "forbidden"           // valid credential, not allowed
	CodeNoAgent         Code = "no_agent"            // no agent of that name, or it cannot be started
	CodeAgentAuth       Code = "agent_auth_required" // the agent wants a login of its own first
	CodeAgentFailed     Code = "agent_failed"        // the agent broke off or answered with an error
	CodeTimeout         Code = "timeout"             // a deadline passed
	CodeStorage         Code = "storage_unavailable" // nothing was changed; try again
	CodeShuttingDown    Code = "shutting_down"       // the server is going; reconnect
	CodeServerRestart   Code = "server_restart"      // a turn was cut by a restart of the server
	CodeNotSubscribed   Code = "not_subscribed"      // the connection does not follow that session
	CodeInvalidState    Code = "invalid_state"       // an exported state is malformed, forged or expired
	CodeInternal        Code = "internal"            // a fault of the server; its log knows more
)

// Error is an error that crosses the wire. Message says what happened and what to do; it never holds internal detail.
type Error struct {
	Code    Code    `json:"code"`
	Message string  `json:"message"`
	Limit   int64   `json:"limit,omitempty"`  // with too_large (bytes) and too_many
	Winner  *Winner `json:"winner,omitempty"` // with conflict
}

// Winner tells who decided first, and what.
type Winner struct {
	By       Actor    `json:"by"`
	Outcome  Outcome  `json:"outcome"`
	Decision Decision `json:"decision,omitempty"`
	Option   string   `json:"option,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Errorf makes an Error.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// AsError returns the Error within err; any other error becomes the code internal with a message that tells nothing, because
// what is unknown may hold paths, SQL or secrets. The caller logs err.
func AsError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeInternal, Message: "internal error; the server's log tells more"}
}

// CodeOf returns the code of err: empty for nil, internal for an error without one.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	return AsError(err).Code
}

// Close codes of a connection, beside those of RFC 6455.
const (
	CloseGoingAway = 1001 // the server drains; reconnect
	ClosePolicy    = 1008 // credential missing, bad or expired; do not reconnect
	CloseTooLarge  = 1009 // a message over the limit
	CloseSlow      = 1013 // nothing was read for too long; reconnect and resume
)
