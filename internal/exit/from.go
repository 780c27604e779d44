package exit

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"agentctl/dialect"
	"agentctl/internal/panics"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// From returns err as an Error. An error without a code gets protocol.CodeInternal; output prints
// it as CodeFailed with its text, because here, unlike on the wire, the text is meant for the user.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	if panics.As(err) != nil { // wherever it is wrapped
		return &Error{
			Status: Failure, Code: protocol.CodeInternal, Err: err,
			Hint: "this is a bug in agentctl: please report it with the trace above",
		}
	}
	var refused *wsclient.ConnectError
	if errors.As(err, &refused) {
		return fromConnect(refused)
	}
	var coded *protocol.Error
	if errors.As(err, &coded) {
		return (&Error{Status: statusOf(coded.Code), Code: coded.Code, Err: err}).withHint(coded.Code)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{Status: Timeout, Code: protocol.CodeTimeout, Err: err}
	}
	return &Error{Status: Failure, Code: protocol.CodeInternal, Err: err}
}

func fromConnect(e *wsclient.ConnectError) *Error {
	switch e.Code {
	case protocol.CodeUnauthorized, protocol.CodeForbidden: // some servers answer 403 where others answer 401
		return (&Error{Status: Forbidden, Code: e.Code, Err: e}).withHint(protocol.CodeUnauthorized)
	case protocol.CodeUnsupported:
		return &Error{Status: Failure, Code: e.Code, Err: e, Hint: dialectHint(e)}
	case protocol.CodeTooLarge:
		return &Error{Status: Failure, Code: e.Code, Err: e}
	}
	if e.Code == CodeUntrusted {
		return (&Error{Status: Unreachable, Code: e.Code, Err: e}).withHint(e.Code)
	}
	unreachable := &Error{Status: Unreachable, Code: CodeUnreachable, Err: e}
	switch {
	case e.Status == http.StatusBadRequest && e.Code == "" && strings.HasPrefix(e.URL, "ws://"): // Go's answer
		unreachable.Hint = "if the server has TLS there, use wss:// instead of ws://; else " + dialectHint(e)
	case e.Status != 0 && e.Code == "":
		unreachable.Hint = "another service answers there: " + dialectHint(e)
	case e.Code == protocol.CodeNotFound:
		unreachable.Hint = "a server answers, but not at this path: " + dialectHint(e)
	case e.Status != 0: // it answers
		return unreachable.withHint(e.Code)
	case strings.Contains(e.Error(), "server gave HTTP response to HTTPS client"):
		unreachable.Hint = "the server has no TLS there: use ws:// instead of wss://"
	default:
		return unreachable.withHint(CodeUnreachable)
	}
	return unreachable
}

// dialectHint says how to reach a server that does not speak the requested dialect.
func dialectHint(e *wsclient.ConnectError) string {
	switch _, known := dialect.Find(e.PeerProtocol); {
	case known:
		return "pass --dialect " + e.PeerProtocol
	case e.PeerProtocol == protocol.Subprotocol:
		return "omit --dialect, or use the dialect's own address: its port, or /dialect/NAME of this server"
	}
	return "check the address and its path; a server of agentctl serves dialects at /dialect/NAME; " +
		"--dialect selects one of " +
		strings.Join(dialect.Names(), ", ")
}

func statusOf(c protocol.Code) int {
	switch c {
	case protocol.CodeNoSession, protocol.CodeAmbiguous:
		return NoSession
	case protocol.CodeUnauthorized, protocol.CodeForbidden:
		return Forbidden
	case protocol.CodeTimeout:
		return Timeout
	case protocol.CodeUnsupported:
		return Unsupported
	}
	return Failure
}

// HintFor returns the hint for errors with a code, or "".
func HintFor(c protocol.Code) string { return hints[c].text }

// agentHint is the hint for actions that agents may not do.
const agentHint = "this process was started by an agent of the server: ask the user for it in your answer"

type hint struct {
	text      string
	condition condition
}

var hints = map[protocol.Code]hint{
	CodeUnreachable: {
		"is the server running? start one with: agentctl serve",
		condition{native: true, otherwise: "is the server running? check its address"},
	},
	CodeUntrusted: {text: "compare it with the fingerprint that the server printed at its start: if they are equal, " +
		"pass it once with --fingerprint; if not, somebody may be between you and the server"},
	protocol.CodeNoSession: {"list sessions: agentctl ls", condition{verb: protocol.DoList}},
	protocol.CodeAmbiguous: {
		"type more of the id: agentctl ls", condition{verb: protocol.DoList, otherwise: "type more of the id"},
	},
	protocol.CodeUnauthorized: {
		"log in: agentctl login --server URL; or pass a credential: --token or AGENTCTL_TOKEN",
		condition{login: true, otherwise: "pass a credential: --token or AGENTCTL_TOKEN"},
	},
	protocol.CodeForbidden: {text: "ask for a role with this permission"},
	protocol.CodeNoAgent: {
		"list: agentctl agents; after a change of PATH or server.json: agentctl stop", condition{native: true},
	},
	protocol.CodeAgentAuth: {
		"log in: agentctl agents login AGENT; or pass a key to a new session: --env, pass_env; " +
			"the server has the environment of its start: agentctl stop", condition{native: true},
	},
	protocol.CodeNameTaken: {
		"choose another name, or list sessions: agentctl ls",
		condition{verb: protocol.DoList, otherwise: "choose another name"},
	},
	protocol.CodeKeyReused: {text: "a key identifies one command for ever: choose another --key"},
	protocol.CodeQueueFull: {
		"wait, or remove messages: agentctl queue rm",
		condition{verb: protocol.DoQueueRemove, otherwise: "wait until messages have started"},
	},
	protocol.CodeSessionLimit: {
		"remove sessions: agentctl ls --all, agentctl rm", condition{native: true, otherwise: "close sessions"},
	},
	protocol.CodeAgentLimit: {
		"remove sessions: agentctl ls, agentctl rm", condition{native: true, otherwise: "close sessions"},
	},
	protocol.CodeDiskLimit: {
		"remove sessions: agentctl rm --closed --older-than 720h", condition{native: true, otherwise: "close sessions"},
	},
	protocol.CodeConnectionLimit: {text: "close other clients, or try again later"},
	protocol.CodeSessionClosed: {
		"the session can still be read: agentctl history", condition{verb: protocol.DoHistory},
	},
	protocol.CodeCorrupt: {
		"see what is damaged: agentctl check; then: agentctl stop, agentctl repair",
		condition{native: true, otherwise: "restore a backup of that server"},
	},
	protocol.CodeStorage: {text: "nothing was changed; try again"},
	protocol.CodeUnknownCommand: {
		"the server is older than this program: restart it with agentctl stop",
		condition{native: true, otherwise: "the server is older than this program"},
	},
}
