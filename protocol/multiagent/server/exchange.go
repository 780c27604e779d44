package server

import (
	"fmt"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// maxPendingCommands bounds the commands of a connection without an answer.
const maxPendingCommands = 256

// An exchange sends native commands for a foreign client, and frames to it, on one connection.
type exchange struct{ codec.ServerBase }

func (x *exchange) sendError(conversation, code, message string) {
	x.Send(wire.NewError(conversation, code, message).Encode())
}

// command sends a native command and calls then with the answer. A key makes the command act once;
// empty: none.
func (x *exchange) command(verb protocol.Verb, session, key string, data any, then func(protocol.Answer)) {
	if x.Requests.Pending() >= maxPendingCommands {
		then(protocol.Answer{Error: codec.TooMany(maxPendingCommands)})
		return
	}
	x.Request(verb, session, key, data, then)
}

// request sends a native command and calls then with the result. The client gets an error instead,
// under a conversation.
func request[T any](x *exchange, verb protocol.Verb, session string, data any, conversation string, then func(T)) {
	x.command(verb, session, "", data, func(a protocol.Answer) {
		r, err := codec.DecodeResult[T](a)
		if err != nil {
			x.sendError(conversation, foreignCode(err.Code, wire.CodeStreamError), err.Message)
			return
		}
		then(r)
	})
}

// checkRole reports whether the client's role permits a command, and sends the error if not.
func (x *exchange) checkRole(verb protocol.Verb, conversation string) bool {
	if x.Options.Role.May(verb) {
		return true
	}
	x.sendError(conversation, wire.CodeForbidden, x.Options.Role.Refusal(verb).Message)
	return false
}

// create creates a session for a domain, if the client may, and calls then with its id. Without
// domains in the configuration, each is the default agent.
func (x *exchange) create(domain string, then func(session string)) {
	if !x.checkRole(protocol.DoCreate, "") {
		return
	}
	if known := x.Options.AgentNames; len(known) > 0 && !slices.Contains(known, domain) {
		x.sendError("", wire.CodeNotFound,
			fmt.Sprintf("Unknown domainId %q: want one of %s", domain, strings.Join(known, ", ")))
		return
	}
	create := protocol.CreateData{Agent: x.Options.Agent(domain)}
	request(x, protocol.DoCreate, "", create, "", func(r protocol.CreateResult) { then(r.Session) })
}

// foreignCode converts a native error code. rest is the result for a code without an equivalent.
func foreignCode(code protocol.Code, rest string) string {
	switch code {
	case protocol.CodeNoSession, protocol.CodeAmbiguous, protocol.CodeNotFound, protocol.CodeNotSubscribed:
		return wire.CodeNotFound
	case protocol.CodeForbidden, protocol.CodeUnauthorized:
		return wire.CodeForbidden
	case protocol.CodeNoAgent, protocol.CodeAgentAuth, protocol.CodeUnsupported:
		return wire.CodeNotConfigured
	case protocol.CodeInvalidJSON, protocol.CodeInvalidMessage, protocol.CodeTooLarge, protocol.CodeTooMany,
		protocol.CodeQueueFull, protocol.CodeSessionClosed:
		return wire.CodeBadRequest
	}
	return rest
}
