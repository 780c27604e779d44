package client

import (
	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// An exchange sends frames and PINGs to the server and answers the client's commands, on one
// connection. It saves the answers to commands with a key for later connections.
type exchange struct {
	codec.ClientBase
	answers *codec.Recent[savedAnswer] // by key
	pings   []ping                     // without an answer, oldest first
}

// A savedAnswer is the answer to a command with a key.
type savedAnswer struct {
	body   string
	result any // or an error
}

// A ping is a PING without an answer: of a ping command, or sent after a message.
type ping struct {
	command *protocol.Command // nil: none
	outbox  *outbox           // that sent the message of request; nil: none
	request *request
}

func (x *exchange) send(f wire.Frame) { x.Send(f.Encode()) }

// ping sends a PING.
func (x *exchange) ping(p ping, conversation string) {
	if len(x.pings) < maxPings {
		x.pings = append(x.pings, p)
	}
	x.send(wire.Frame{Type: wire.TypePing, Conversation: conversation})
}

// takePing removes and returns the oldest PING, which the server answered. ok is false if none
// waits.
func (x *exchange) takePing() (p ping, ok bool) {
	if len(x.pings) == 0 {
		return p, false
	}
	p, x.pings = x.pings[0], x.pings[1:]
	return p, true
}

// answerOnce answers a command that changed state, and saves the answer under the command's key.
// cmd may be nil.
func (x *exchange) answerOnce(cmd *protocol.Command, result any) {
	if cmd == nil {
		return
	}
	if cmd.Key != "" {
		x.answers.Put(cmd.Key, savedAnswer{commandBody(cmd), result})
	}
	x.Answer(cmd, result)
}

// fail answers a command with an error. cmd may be nil.
func (x *exchange) fail(cmd *protocol.Command, err *protocol.Error) {
	switch {
	case cmd == nil:
	case cmd.ID == "": // of an earlier connection
		x.saveError(cmd, err)
	default:
		x.Fail(cmd, err)
	}
}

// saveError saves the error of a command under its key: the command is not carried out again. cmd
// may be nil.
func (x *exchange) saveError(cmd *protocol.Command, err *protocol.Error) {
	if cmd != nil && cmd.Key != "" {
		x.answers.Put(cmd.Key, savedAnswer{commandBody(cmd), err})
	}
}

// repeatAnswer answers a command whose key was used, and reports whether it was.
func (x *exchange) repeatAnswer(cmd *protocol.Command) bool {
	saved, known := x.answers.Get(cmd.Key)
	if !known || cmd.Key == "" {
		return false
	}
	if saved.body != commandBody(cmd) {
		x.Failf(cmd, protocol.CodeKeyReused, "the key was used for another command")
		return true
	}
	if err, failed := saved.result.(*protocol.Error); failed {
		x.Fail(cmd, err)
		return true
	}
	x.Answer(cmd, saved.result)
	return true
}

// commandBody distinguishes commands with the same key.
func commandBody(cmd *protocol.Command) string {
	return string(cmd.Command) + "\n" + cmd.Session + "\n" + string(cmd.Data)
}
