package multiagent

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Bounds of one connection at our server's end.
const (
	maxConversations   = 256
	maxPendingCommands = 256 // commands without an answer
)

// A Server is the codec at our server's end. It follows a session from the first message on that names it.
type serverCodec struct {
	options       codec.ServerOptions
	requests      codec.Requests
	conversations map[string]*conversation // by what the client calls them
	sessions      map[string]*conversation // by session id
	nativeID      string                   // as our server calls it

	out *codec.Output // of the call under way
}

// NewServer makes the codec of a foreign client's connection.
func newServerCodec(d codec.ServerOptions) *serverCodec {
	return &serverCodec{options: d, conversations: map[string]*conversation{}, sessions: map[string]*conversation{}}
}

// Open implements codec.Codec.
func (s *serverCodec) Open(time.Time) codec.Output {
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
func (s *serverCodec) Native(_ time.Time, line []byte) codec.Output {
	return s.run(func() {
		if e := s.requests.Receive(line); e != nil {
			if c := s.sessions[e.Session]; c != nil {
				s.handleEvent(c, e)
			}
		}
	})
}

// Foreign implements codec.Codec.
func (s *serverCodec) Foreign(_ time.Time, f codec.Frame) codec.Output {
	return s.run(func() { s.handleMessage(decodeMessage(f.Data)) })
}

// TooLarge says that a message is over the limit: nothing of it was read.
func (s *serverCodec) TooLarge(_ time.Time, message string) codec.Output {
	return s.run(func() { s.sendError("", badRequest, message) })
}

// Wake implements codec.Codec: nothing here waits for a time.
func (s *serverCodec) Wake(time.Time) codec.Output { return codec.Output{} }

// do carries out one call of the codec.
func (s *serverCodec) run(work func()) codec.Output {
	s.out = &codec.Output{}
	work()
	out := s.out
	s.out = nil
	return *out
}

func (s *serverCodec) send(f frame) { s.out.Foreign = append(s.out.Foreign, f.encode()) }

func (s *serverCodec) sendError(conversation, code, message string) {
	s.send(errorFrame(conversation, code, message))
}

// ask sends a native command; then gets its answer.
func (s *serverCodec) sendCommand(verb protocol.Verb, session string, data any, then func(protocol.Answer)) {
	if s.requests.Pending() >= maxPendingCommands {
		then(protocol.Answer{Error: protocol.Errorf(protocol.CodeTooMany, "too many requests under way")})
		return
	}
	s.requests.Do(s.out, verb, session, "", data, then)
}
