package server

import (
	"time"

	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// A Conn is the connection of a foreign client. It implements codec.Codec. It carries out the
// client's messages, and subscribes to a session at the first message that names it.
type Conn struct {
	*exchange
	conversations conversations
}

// New returns the server end of a connection.
func New(o codec.ServerOptions) *Conn {
	x := &exchange{codec.ServerBase{Options: o}}
	return &Conn{x, conversations{x, map[string]*conversation{}, map[string]*conversation{}}}
}

// Open implements codec.Codec.
func (s *Conn) Open(now time.Time) codec.Output {
	return s.Run(now, func() { s.Hello(wire.Name) })
}

// Native implements codec.Codec.
func (s *Conn) Native(now time.Time, line []byte) codec.Output {
	return s.Run(now, func() {
		if e := s.Receive(line); e != nil {
			s.conversations.handleEvent(e)
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
