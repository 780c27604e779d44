package server

import (
	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// An exchange sends messages to the client, and commands to agentctl's server.
type exchange struct{ codec.ServerBase }

// A message is a message to the client, without its id.
type message struct {
	typ     string
	payload any
}

// send sends messages, in order.
func (x *exchange) send(messages ...message) {
	for _, m := range messages {
		x.reply("", m)
	}
}

// reply sends the answer to a message of the client, under the id of that message: so agentctl's
// client knows which one it answers. An empty id is replaced by one of the server.
func (x *exchange) reply(id string, m message) {
	if id == "" || len(id) > maxReplyID {
		id = x.Options.ID("msg")
	}
	x.Send(wire.EncodeMessage(id, m.typ, m.payload))
}

// maxReplyID bounds the id of a reply, in bytes.
const maxReplyID = 128

// tooManyMessages is the error of a message beyond maxWaiting.
const tooManyMessages = "Too many messages"

// fail sends an error. id is the id of the failed message; empty: none. details may be nil.
func (x *exchange) fail(id, text string, details any) { x.reply(id, errorMessage(text, details)) }

// failWith sends an error of agentctl's server. id is the id of the failed message; empty: none.
func (x *exchange) failWith(id, text string, err *protocol.Error) {
	x.fail(id, text, errorDetails{Error: err.Message, Code: string(err.Code)})
}

// errorMessage returns an error. details may be nil.
func errorMessage(text string, details any) message {
	f := wire.ErrorPayload{Message: text}
	if details != nil {
		f.Details = protocol.MustEncode(details)
	}
	return message{wire.ErrorType, f}
}

// errorDetails are the details of an error: message and code only.
type errorDetails struct {
	Error  string   `json:"error"`
	Code   any      `json:"code,omitempty"`
	Fields []string `json:"fields,omitempty"`
}
