package server

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// Bounds of one connection.
const (
	maxConversations   = 256
	maxPendingCommands = 256 // commands without an answer
)

// A Conn is the connection of a foreign client. It implements codec.Codec. It subscribes to a session at the first message
// that names it.
type Conn struct {
	codec.ServerBase
	conversations map[string]*conversation // by the client's name
	sessions      map[string]*conversation // by session id
}

// New returns the server end of a connection.
func New(o codec.ServerOptions) *Conn {
	return &Conn{
		ServerBase: codec.ServerBase{Options: o}, conversations: map[string]*conversation{},
		sessions: map[string]*conversation{},
	}
}

// Open implements codec.Codec.
func (s *Conn) Open(now time.Time) codec.Output {
	return s.Run(now, func() { s.Hello(wire.Name) })
}

// Native implements codec.Codec.
func (s *Conn) Native(now time.Time, line []byte) codec.Output {
	return s.Run(now, func() {
		if e := s.Receive(line); e != nil {
			if c := s.sessions[e.Session]; c != nil {
				s.handleEvent(c, e)
			}
		}
	})
}

// Foreign implements codec.Codec.
func (s *Conn) Foreign(now time.Time, f codec.Frame) codec.Output {
	return s.Run(now, func() { s.handleMessage(wire.DecodeMessage(f.Data)) })
}

// TooLarge sends the error of a message over the size limit, which was not read.
func (s *Conn) TooLarge(now time.Time, message string) codec.Output {
	return s.Run(now, func() { s.sendError("", wire.CodeBadRequest, message) })
}

// Wake implements codec.Codec. It does nothing: no timer is used.
func (s *Conn) Wake(time.Time) codec.Output { return codec.Output{} }

func (s *Conn) send(f wire.Frame) { s.Send(f.Encode()) }

func (s *Conn) sendError(conversation, code, message string) {
	s.send(wire.NewError(conversation, code, message))
}

// sendCommand sends a native command and calls then with the answer.
func (s *Conn) sendCommand(verb protocol.Verb, session string, data any, then func(protocol.Answer)) {
	s.sendKeyed(verb, session, "", data, then)
}

// sendKeyed is sendCommand with a key, which makes the command act once. An empty key means none.
func (s *Conn) sendKeyed(verb protocol.Verb, session, key string, data any, then func(protocol.Answer)) {
	if s.Requests.Pending() >= maxPendingCommands {
		then(protocol.Answer{Error: codec.TooMany(maxPendingCommands)})
		return
	}
	s.Request(verb, session, key, data, then)
}

// sendAnswer answers a message with a key.
func (s *Conn) sendAnswer(c *conversation, key string, a wire.Answer) {
	s.send(wire.Frame{Type: wire.TypeAnswer, Conversation: c.id, Request: key, Payload: a})
}

// answerSend answers a user message with a key.
func (s *Conn) answerSend(c *conversation, key string, r *protocol.SendResult, err *protocol.Error) {
	a := wire.Answer{Error: err}
	switch {
	case err != nil:
	case c.turn != nil && c.turn.message == r.MessageID:
		a.Turn = wire.TurnBegun
	case r.Status == protocol.SendQueued:
		a.Turn = wire.TurnQueued
	case r.Seq <= c.seq:
		a.Turn, a.Output = wire.TurnOver, r.Turn
	default:
		a.Turn = wire.TurnBegins
	}
	if (a.Turn == wire.TurnQueued || a.Turn == wire.TurnBegins) && len(c.keys) < maxQueuedMessages {
		c.keys[r.MessageID] = key
	}
	s.sendAnswer(c, key, a)
}

// answerBegun sends the second answer to a user message with a key, when its turn begins.
func (s *Conn) answerBegun(c *conversation, message string) {
	if key := c.keys[message]; key != "" {
		delete(c.keys, message)
		s.sendAnswer(c, key, wire.Answer{Turn: wire.TurnBegun})
	}
}
