package multiagent

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Bounds of one connection at our server's end.
const (
	maxConversations = 256
	maxUnderWay      = 256 // commands without an answer
)

// A Server is the codec at our server's end. It follows a session from the first message on that names it.
type Server struct {
	door          codec.ServerOptions
	native        codec.Requests
	conversations map[string]*conversation // by what the client calls them
	sessions      map[string]*conversation // by session id
	connection    string                   // as our server calls it

	out *codec.Output // of the call under way
}

// NewServer makes the codec of a foreign client's connection.
func NewServer(d codec.ServerOptions) *Server {
	return &Server{door: d, conversations: map[string]*conversation{}, sessions: map[string]*conversation{}}
}

// Open implements codec.Codec.
func (s *Server) Open(time.Time) codec.Output {
	return s.do(func() {
		hello := protocol.HelloData{Version: protocol.Version, Name: s.door.By.Name, Agent: Name}
		s.native.Do(s.out, protocol.DoHello, "", "", hello, func(a protocol.Answer) {
			var r protocol.HelloResult
			if json.Unmarshal(a.Result, &r) == nil {
				s.connection = r.Connection
			}
		})
	})
}

// Native implements codec.Codec.
func (s *Server) Native(_ time.Time, line []byte) codec.Output {
	return s.do(func() {
		if e := s.native.Receive(line); e != nil {
			if c := s.sessions[e.Session]; c != nil {
				s.event(c, e)
			}
		}
	})
}

// Foreign implements codec.Codec.
func (s *Server) Foreign(_ time.Time, f codec.Frame) codec.Output {
	return s.do(func() { s.message(hear(f.Data)) })
}

// TooLarge says that a message is over the limit: nothing of it was read.
func (s *Server) TooLarge(_ time.Time, message string) codec.Output {
	return s.do(func() { s.fail("", badRequest, message) })
}

// Wake implements codec.Codec: nothing here waits for a time.
func (s *Server) Wake(time.Time) codec.Output { return codec.Output{} }

// do carries out one call of the codec.
func (s *Server) do(work func()) codec.Output {
	s.out = &codec.Output{}
	work()
	out := s.out
	s.out = nil
	return *out
}

func (s *Server) say(f frame) { s.out.Foreign = append(s.out.Foreign, f.encode()) }

func (s *Server) fail(conversation, code, message string) {
	s.say(errorFrame(conversation, code, message))
}

// ask sends a native command; then gets its answer.
func (s *Server) ask(verb protocol.Verb, session string, data any, then func(protocol.Answer)) {
	if s.native.Pending() >= maxUnderWay {
		then(protocol.Answer{Error: protocol.Errorf(protocol.CodeTooMany, "too many requests under way")})
		return
	}
	s.native.Do(s.out, verb, session, "", data, then)
}
