package multiagent

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Bounds of one connection.
const (
	maxConversations   = 256
	maxPendingCommands = 256 // commands without an answer
)

// A server is the server end of one connection. It subscribes to a session at the first message
// that names it.
type server struct {
	codec.ServerBase
	conversations map[string]*conversation // by the client's name
	sessions      map[string]*conversation // by session id
}

func newServer(o codec.ServerOptions) *server {
	return &server{
		ServerBase: codec.ServerBase{Options: o}, conversations: map[string]*conversation{},
		sessions: map[string]*conversation{},
	}
}

// Open implements codec.Codec.
func (s *server) Open(now time.Time) codec.Output {
	return s.Run(now, func() { s.Hello(Name) })
}

// Native implements codec.Codec.
func (s *server) Native(now time.Time, line []byte) codec.Output {
	return s.Run(now, func() {
		if e := s.Receive(line); e != nil {
			if c := s.sessions[e.Session]; c != nil {
				s.handleEvent(c, e)
			}
		}
	})
}

// Foreign implements codec.Codec.
func (s *server) Foreign(now time.Time, f codec.Frame) codec.Output {
	return s.Run(now, func() { s.handleMessage(decodeMessage(f.Data)) })
}

// TooLarge sends the error of a message over the size limit, which was not read.
func (s *server) TooLarge(now time.Time, message string) codec.Output {
	return s.Run(now, func() { s.sendError("", badRequest, message) })
}

// Wake implements codec.Codec. It does nothing: no timer is used.
func (s *server) Wake(time.Time) codec.Output { return codec.Output{} }

func (s *server) send(f frame) { s.Send(f.encode()) }

func (s *server) sendError(conversation, code, message string) {
	s.send(errorFrame(conversation, code, message))
}

// sendCommand sends a native command and calls then with the answer.
func (s *server) sendCommand(verb protocol.Verb, session string, data any, then func(protocol.Answer)) {
	s.sendKeyed(verb, session, "", data, then)
}

// sendKeyed is sendCommand with a key, which makes the command act once. An empty key means none.
func (s *server) sendKeyed(verb protocol.Verb, session, key string, data any, then func(protocol.Answer)) {
	if s.Requests.Pending() >= maxPendingCommands {
		then(protocol.Answer{Error: codec.TooMany(maxPendingCommands)})
		return
	}
	s.Request(verb, session, key, data, then)
}

// sendAnswer answers a message with a key.
func (s *server) sendAnswer(c *conversation, key string, a answer) {
	s.send(frame{Type: typeAnswer, Conversation: c.id, Request: key, Payload: a})
}

// answerSend answers a user message with a key.
func (s *server) answerSend(c *conversation, key string, r *protocol.SendResult, err *protocol.Error) {
	a := answer{Error: err}
	switch {
	case err != nil:
	case c.turn != nil && c.turn.message == r.MessageID:
		a.Turn = turnBegun
	case r.Status == protocol.SendQueued:
		a.Turn = turnQueued
	case r.Seq <= c.seq:
		a.Turn, a.Output = turnOver, r.Turn
	default:
		a.Turn = turnBegins
	}
	if (a.Turn == turnQueued || a.Turn == turnBegins) && len(c.keys) < maxQueuedMessages {
		c.keys[r.MessageID] = key
	}
	s.sendAnswer(c, key, a)
}

// answerBegun sends the second answer to a user message with a key, when its turn begins.
func (s *server) answerBegun(c *conversation, message string) {
	if key := c.keys[message]; key != "" {
		delete(c.keys, message)
		s.sendAnswer(c, key, answer{Turn: turnBegun})
	}
}
