package server

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/agentloop/wire"
	"agentctl/protocol/codec"
)

// maxWaiting bounds the messages of a client that wait for an answer or for the session.
const maxWaiting = 64

// A phase is the state of the server's subscription.
type phase int

const (
	joining phase = iota // subscribe or create was sent
	absent               // there is no such session; the first input creates it
	present
)

// A Conn is the connection of a foreign client. It implements codec.Codec. The URL names its only
// session.
type Conn struct {
	codec.ServerBase
	name string // of the session; static after construction

	phase   phase
	waiting []func(*protocol.Error) // called when the session is known, with an error if it cannot be had
	sub     codec.Subscription      // State is nil without a session

	turn  turnEncoder
	size  transcriptSize // of the turn under way
	shown shownApproval
}

// New returns the server end of a connection.
func New(o codec.ServerOptions) *Conn {
	return &Conn{ServerBase: codec.ServerBase{Options: o}, name: wire.SessionOfPath(o.Path)}
}

// Open implements codec.Codec.
func (s *Conn) Open(now time.Time) codec.Output {
	return s.run(now, func() {
		s.Hello(wire.Name)
		s.subscribe(nil)
	})
}

// Native implements codec.Codec.
func (s *Conn) Native(now time.Time, line []byte) codec.Output {
	return s.run(now, func() {
		if e := s.Receive(line); e != nil {
			s.event(e)
		}
	})
}

// Foreign implements codec.Codec.
func (s *Conn) Foreign(now time.Time, f codec.Frame) codec.Output {
	return s.run(now, func() {
		m, ok := wire.DecodeMessage(f)
		if !ok {
			s.fail(wire.InvalidFormat, struct{}{})
			return
		}
		s.handleMessage(&m)
	})
}

// TooLarge reports a message over the limit.
func (s *Conn) TooLarge(now time.Time, message string) codec.Output {
	return s.run(now, func() { s.fail(wire.InvalidFormat, errorDetails{Error: message, Code: protocol.CodeTooLarge}) })
}

// Wake implements codec.Codec.
func (s *Conn) Wake(now time.Time) codec.Output {
	return s.run(now, func() { s.sendDueCalls(nil) })
}

// run carries out one call of the codec.
func (s *Conn) run(now time.Time, work func()) codec.Output {
	return s.Run(now, func() {
		work()
		s.Out.WakeBy(s.turn.nextDue())
	})
}

// send sends a message of the protocol.
func (s *Conn) send(typ string, payload any) {
	s.Send(wire.EncodeMessage(s.Options.ID("msg"), typ, payload))
}

// reply sends the answer to a message of the client, under the id of that message: so agentctl's
// client knows which one it answers. An empty id is replaced by one of the server.
func (s *Conn) reply(id, typ string, payload any) {
	if id == "" || len(id) > maxReplyID {
		s.send(typ, payload)
		return
	}
	s.Send(wire.EncodeMessage(id, typ, payload))
}

// maxReplyID bounds the id of a reply, in bytes.
const maxReplyID = 128

// fail sends an error. details may be nil.
func (s *Conn) fail(message string, details any) { s.failReply("", message, details) }

// failReply sends an error that answers the message with an id.
func (s *Conn) failReply(id, message string, details any) {
	f := wire.ErrorPayload{Message: message}
	if details != nil {
		f.Details = protocol.MustEncode(details)
	}
	s.reply(id, wire.ErrorType, f)
}

// failWith sends an error of agentctl's server. id is that of the message that failed; empty: none.
func (s *Conn) failWith(id, what string, err *protocol.Error) {
	s.failReply(id, what, errorDetails{Error: err.Message, Code: string(err.Code)})
}

// errorDetails are the details of an error: message and code only.
type errorDetails struct {
	Error  string   `json:"error"`
	Code   any      `json:"code,omitempty"`
	Fields []string `json:"fields,omitempty"`
}
