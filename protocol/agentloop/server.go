package agentloop

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// maxWaiting bounds what a client may ask for before it has an answer: until its session is known, and after.
const maxWaiting = 64

// A phase is where a server stands with its session.
type phase int

const (
	joining phase = iota // subscribe or create was sent
	absent               // there is no such session: the first input creates it
	present
)

// A Server is the codec of one AgentLoop client at our server. Its connection is about one session, named by the URL.
type Server struct {
	// Static after construction.

	door codec.ServerOptions
	name string

	native     codec.Requests
	connection string // as our server calls it
	phase      phase
	waiting    []func(*protocol.Error) // until the session is known; the error says that it cannot be had
	session    string                  // its id
	epoch      string
	state      *protocol.State
	caughtUp   bool

	turn  turnView
	asked asking

	// Of the call under way.

	now time.Time
	out *codec.Output
}

// NewServer makes the codec of a foreign client's connection.
func NewServer(d codec.ServerOptions) *Server { return &Server{door: d, name: sessionOf(d.Path)} }

// Open implements codec.Codec.
func (s *Server) Open(now time.Time) codec.Output {
	return s.call(now, func() {
		hello := protocol.HelloData{Version: protocol.Version, Name: s.door.By.Name, Agent: Name}
		s.native.Do(s.out, protocol.DoHello, "", "", hello, func(a protocol.Answer) {
			s.connection = result[protocol.HelloResult](a).Connection
		})
		s.join(nil)
	})
}

// Native implements codec.Codec.
func (s *Server) Native(now time.Time, line []byte) codec.Output {
	return s.call(now, func() {
		if e := s.native.Receive(line); e != nil {
			s.event(e)
		}
	})
}

// Foreign implements codec.Codec.
func (s *Server) Foreign(now time.Time, f codec.Frame) codec.Output {
	return s.call(now, func() {
		m, ok := decode(f)
		if !ok {
			s.fail(invalidFormat, struct{}{})
			return
		}
		s.take(&m)
	})
}

// TooLarge says that a message is over the limit: nothing of it was read.
func (s *Server) TooLarge(now time.Time, message string) codec.Output {
	return s.call(now, func() { s.fail(invalidFormat, refusal{Error: message, Code: protocol.CodeTooLarge}) })
}

// Wake implements codec.Codec.
func (s *Server) Wake(now time.Time) codec.Output {
	return s.call(now, func() { s.tellCalls(nil) })
}

func (s *Server) call(now time.Time, work func()) codec.Output {
	var out codec.Output
	s.now, s.out = now, &out
	work()
	s.out = nil
	out.Wake = s.turn.due()
	return out
}

// say sends a message.
func (s *Server) say(typ string, payload any) {
	s.out.Foreign = append(s.out.Foreign, frame(s.door.ID("msg"), typ, payload))
}

// fail says that something went wrong. details may be nil.
func (s *Server) fail(message string, details any) {
	f := fault{Message: message}
	if details != nil {
		f.Details = protocol.MustEncode(details)
	}
	s.say(errorType, f)
}

// refused says why our server did not do what the client wanted.
func (s *Server) refused(what string, err *protocol.Error) {
	s.fail(what, refusal{Error: err.Message, Code: string(err.Code)})
}

// A refusal is the details of an error: what happened and its code, nothing else.
type refusal struct {
	Error  string   `json:"error"`
	Code   any      `json:"code,omitempty"`
	Fields []string `json:"fields,omitempty"`
}

// result reads an answer of our own server.
func result[T any](a protocol.Answer) (r T) {
	_ = json.Unmarshal(a.Result, &r)
	return r
}
