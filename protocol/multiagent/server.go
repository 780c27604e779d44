package multiagent

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Bounds of one connection.
const (
	maxConversations   = 256
	maxPendingCommands = 256 // commands without an answer
)

// A serverCodec is the server end of one connection. It subscribes to a session at the first
// message that names it.
type server struct {
	options       codec.ServerOptions
	requests      codec.Requests
	conversations map[string]*conversation // by the client's name
	sessions      map[string]*conversation // by session id
	nativeID      string                   // the connection's id at agentctl's server

	out *codec.Output // valid during one call of the codec
}

// newServerCodec returns the server end of a connection.
func newServer(d codec.ServerOptions) *server {
	return &server{options: d, conversations: map[string]*conversation{}, sessions: map[string]*conversation{}}
}

// Open implements codec.Codec.
func (s *server) Open(time.Time) codec.Output {
	return s.run(func() {
		hello := protocol.HelloData{Version: protocol.Version, Name: s.options.By.Name, Agent: Name}
		s.requests.Do(s.out, protocol.DoHello, "", "", hello, func(a protocol.Answer) {
			var r protocol.HelloResult
			if json.Unmarshal(a.Result, &r) == nil {
				s.nativeID = r.Connection
			}
		})
	})
}

// Native implements codec.Codec.
func (s *server) Native(_ time.Time, line []byte) codec.Output {
	return s.run(func() {
		if e := s.requests.Receive(line); e != nil {
			if c := s.sessions[e.Session]; c != nil {
				s.handleEvent(c, e)
			}
		}
	})
}

// Foreign implements codec.Codec.
func (s *server) Foreign(_ time.Time, f codec.Frame) codec.Output {
	return s.run(func() { s.handleMessage(decodeMessage(f.Data)) })
}

// TooLarge sends the error of a message over the size limit, which was not read.
func (s *server) TooLarge(_ time.Time, message string) codec.Output {
	return s.run(func() { s.sendError("", badRequest, message) })
}

// Wake implements codec.Codec. It does nothing: no timer is used.
func (s *server) Wake(time.Time) codec.Output { return codec.Output{} }

// run executes one call of the codec.
func (s *server) run(work func()) codec.Output {
	s.out = &codec.Output{}
	work()
	out := s.out
	s.out = nil
	return *out
}

func (s *server) send(f frame) { s.out.Foreign = append(s.out.Foreign, f.encode()) }

func (s *server) sendError(conversation, code, message string) {
	s.send(errorFrame(conversation, code, message))
}

// sendCommand sends a native command and calls then with the answer.
func (s *server) sendCommand(verb protocol.Verb, session string, data any, then func(protocol.Answer)) {
	if s.requests.Pending() >= maxPendingCommands {
		then(protocol.Answer{Error: protocol.Errorf(protocol.CodeTooMany, "too many requests under way")})
		return
	}
	s.requests.Do(s.out, verb, session, "", data, then)
}
