package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"agentctl/dialect"
	"agentctl/internal/panics"
	"agentctl/protocol"
	"agentctl/tui"
	"agentctl/wsclient"
)

// The exit codes. Scripts branch on them: they never change.
const (
	exitDone        = 0
	exitError       = 1
	exitUsage       = 2
	exitTimeout     = 3
	exitNoSession   = 4
	exitForbidden   = 5
	exitNeedsPerson = 6
	exitTurnFailed  = 7
	exitUnreachable = 8
	exitInterrupted = 130
)

// Error codes of the command line, beside those of the protocol.
const (
	codeUsage       protocol.Code = "usage"
	codeUnreachable protocol.Code = "unreachable"
	codeNeedsPerson protocol.Code = "needs_person" // an approval is pending or the queue is held
	codeTurnFailed  protocol.Code = "turn_failed"
	codeInterrupted protocol.Code = "interrupted"
	codeFailed      protocol.Code = "error" // everything that no script has to tell apart
	codeInternal                  = protocol.CodeInternal
)

// A fault is an error as it leaves the program: with an exit code, a code for scripts and what to do about it.
type fault struct {
	exit int
	code protocol.Code
	err  error
	hint string
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

func faultf(exit int, code protocol.Code, format string, args ...any) *fault {
	return &fault{exit: exit, code: code, err: fmt.Errorf(format, args...)}
}

// hinting says what to do about it.
func (f *fault) hinting(format string, args ...any) *fault {
	f.hint = fmt.Sprintf(format, args...)
	return f
}

func usagef(format string, args ...any) *fault { return faultf(exitUsage, codeUsage, format, args...) }

func unsupportedf(format string, args ...any) *fault {
	return faultf(exitError, protocol.CodeUnsupported, format, args...)
}

func unreachablef(format string, args ...any) *fault {
	return faultf(exitUnreachable, codeUnreachable, format, args...)
}

// faultOf decides how an error leaves the program. An error without a code of its own gets codeInternal; report tells it as
// codeFailed with its text, because here, unlike on the wire, the text is the user's own.
func faultOf(err error) *fault {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	if panics.As(err) != nil { // whatever it was wrapped in
		return &fault{exit: exitError, code: codeInternal, err: err, hint: "this is a bug of agentctl: please report it, with what is above"}
	}
	var refused *wsclient.ConnectError
	if errors.As(err, &refused) {
		return connectFault(refused)
	}
	var coded *protocol.Error
	if errors.As(err, &coded) {
		return &fault{exit: exitOf(coded.Code), code: coded.Code, err: err, hint: hints[coded.Code]}
	}
	if errors.Is(err, tui.ErrInterrupted) {
		return &fault{exit: exitInterrupted, code: codeInterrupted, err: err}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &fault{exit: exitTimeout, code: protocol.CodeTimeout, err: err}
	}
	return &fault{exit: exitError, code: codeInternal, err: err}
}

func connectFault(e *wsclient.ConnectError) *fault {
	switch e.Code {
	case protocol.CodeUnauthorized, protocol.CodeForbidden: // some servers say 403 where others say 401
		return &fault{exit: exitForbidden, code: e.Code, err: e, hint: hints[protocol.CodeUnauthorized]}
	case protocol.CodeUnsupported:
		return &fault{exit: exitError, code: e.Code, err: e, hint: speaking(e)}
	}
	if e.Status != 0 && e.Code == "" {
		return &fault{exit: exitUnreachable, code: codeUnreachable, err: e, hint: "something else answers there: " + speaking(e)}
	}
	return &fault{exit: exitUnreachable, code: codeUnreachable, err: e, hint: hints[codeUnreachable]}
}

// speaking says what to do where a server does not speak what it was asked in.
func speaking(e *wsclient.ConnectError) string {
	switch _, known := dialect.Find(e.PeerProtocol); {
	case known:
		return "speak it: --dialect " + e.PeerProtocol
	case e.PeerProtocol == protocol.Subprotocol:
		return "leave --dialect out, or name a dialect's own address: its port, or /dialect/NAME behind the server's"
	}
	return "is the address right, and its path? A server of agentctl has its dialects at /dialect/NAME; --dialect says which one a server speaks: " +
		strings.Join(dialect.Names(), ", ")
}

func exitOf(c protocol.Code) int {
	switch c {
	case protocol.CodeNoSession, protocol.CodeAmbiguous:
		return exitNoSession
	case protocol.CodeUnauthorized, protocol.CodeForbidden:
		return exitForbidden
	case protocol.CodeTimeout:
		return exitTimeout
	}
	return exitError
}

// hints tell what to do about an error.
var hints = map[protocol.Code]string{
	codeUnreachable:            "is the server running? start one with: agentctl serve",
	protocol.CodeNoSession:     "see which there are: agentctl ls",
	protocol.CodeAmbiguous:     "write more of the id: agentctl ls",
	protocol.CodeUnauthorized:  "log in: agentctl login --server URL; or give a credential: --token or AGENTCTL_TOKEN",
	protocol.CodeForbidden:     "ask for a role that may do this",
	protocol.CodeNoAgent:       "see which there are: agentctl agents",
	protocol.CodeNameTaken:     "choose another name, or see: agentctl ls",
	protocol.CodeKeyReused:     "a key names one command for ever: choose another --id",
	protocol.CodeSessionClosed: "it can still be read: agentctl history",
	protocol.CodeStorage:       "nothing was changed; try again",

	protocol.CodeUnknownCommand: "the server is older than this program: agentctl stop, and it starts anew",
}
