package exit

import (
	"errors"
	"fmt"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// The exit codes. Scripts depend on them: they never change.
const (
	OK          = 0
	Failure     = 1
	Usage       = 2
	Timeout     = 3
	NoSession   = 4
	Forbidden   = 5
	NeedsPerson = 6
	TurnFailed  = 7
	Unreachable = 8
	LogReplaced = 9   // a position of another log
	Unsupported = 10  // by the agent, the dialect or the system
	Signal      = 128 // plus the number of the signal that ended the screen, as in a shell
	Interrupted = 130
)

// Error codes of the command line, in addition to the protocol's codes.
const (
	CodeUsage       protocol.Code = "usage"
	CodeUnreachable protocol.Code = "unreachable"
	CodeLogReplaced protocol.Code = "log_replaced"
	CodeNeedsPerson protocol.Code = "needs_person" // an approval is pending or the queue is held
	CodeTurnFailed  protocol.Code = "turn_failed"
	CodeDenied      protocol.Code = "denied" // a denial ended the turn, or was not to happen
	CodeInterrupted protocol.Code = "interrupted"
	CodeUntrusted                 = wsclient.CodeUntrusted
	CodeFailed      protocol.Code = "error" // any error without a more specific code
)

// ErrTimeout is the cause of a context that --timeout ended.
var ErrTimeout = errors.New("--timeout is over")

// An Error ends the program: with an exit code, a code for scripts and a hint for the user.
type Error struct {
	Status int
	Code   protocol.Code
	Err    error  // nil: end without a message
	Hint   string // may be empty

	condition condition // of Hint
}

// Errorf returns an error with an exit code and a code for scripts.
func Errorf(status int, code protocol.Code, format string, args ...any) *Error {
	return &Error{Status: status, Code: code, Err: fmt.Errorf(format, args...)}
}

// Usagef returns an error about wrong usage.
func Usagef(format string, args ...any) *Error { return Errorf(Usage, CodeUsage, format, args...) }

// Unsupportedf returns an error about something the agent, dialect or system cannot do.
func Unsupportedf(format string, args ...any) *Error {
	return Errorf(Unsupported, protocol.CodeUnsupported, format, args...)
}

// Unreachablef returns an error about a server that cannot be reached.
func Unreachablef(format string, args ...any) *Error {
	return Errorf(Unreachable, CodeUnreachable, format, args...)
}

// Silent returns an error that ends the program with status and without a message.
func Silent(status int) *Error { return &Error{Status: status} }

// WithHint sets the hint, for any server, and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint, e.condition = fmt.Sprintf(format, args...), condition{}
	return e
}

// withHint sets the hint of a code and returns e.
func (e *Error) withHint(c protocol.Code) *Error {
	h := hints[c]
	e.Hint, e.condition = h.text, h.condition
	return e
}

func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Status)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }
