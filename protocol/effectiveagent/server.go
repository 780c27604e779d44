package effectiveagent

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A Server is the codec at our server's end. It follows each session once, whatever names the client has for it.
type Server struct {
	door       codec.ServerOptions
	form       form
	native     codec.Requests
	connection string              // ours, as the server calls it
	runtimes   map[string]*runtime // that the client follows, by its names
	followed   map[string]*feed    // the sessions behind them

	now time.Time // of the call under way
	out *codec.Output
}

var _ codec.Codec = (*Server)(nil)

// NewServer makes the codec of a foreign client's connection. The option "activities" says in which form it is told of them
// before it shows its own: "document", the default, or "system".
func NewServer(d codec.ServerOptions) *Server {
	return &Server{door: d, form: formOf(d.Options), runtimes: map[string]*runtime{}, followed: map[string]*feed{}}
}

// Open implements codec.Codec.
func (s *Server) Open(now time.Time) codec.Output {
	return s.do(now, func() {
		hello := protocol.HelloData{Version: protocol.Version, Name: s.door.By.Name, Agent: Name}
		s.native.Do(s.out, protocol.DoHello, "", "", hello, func(a protocol.Answer) {
			var r protocol.HelloResult
			_ = json.Unmarshal(a.Result, &r)
			s.connection = r.Connection
		})
	})
}

// Native implements codec.Codec.
func (s *Server) Native(now time.Time, line []byte) codec.Output {
	return s.do(now, func() {
		if e := s.native.Receive(line); e != nil {
			s.event(e)
		}
	})
}

// Foreign implements codec.Codec.
func (s *Server) Foreign(now time.Time, f codec.Frame) codec.Output {
	return s.do(now, func() { s.message(f) })
}

// TooLarge says that a message is over the limit: nothing of it was read.
func (s *Server) TooLarge(now time.Time, message string) codec.Output {
	return s.do(now, func() { s.fail(validationError, "Invalid message format: "+message, string(protocol.CodeTooLarge)) })
}

// Wake implements codec.Codec: nothing here waits for a time.
func (s *Server) Wake(time.Time) codec.Output { return codec.Output{} }

func (s *Server) do(now time.Time, work func()) codec.Output {
	s.now, s.out = now, &codec.Output{}
	work()
	out := s.out
	s.out = nil
	return *out
}

func (s *Server) say(m any) { s.out.Foreign = append(s.out.Foreign, frame(m)) }

// fail tells the client of an error. details name its kind and nothing of the inside.
func (s *Server) fail(c code, message, details string) {
	s.say(errorMessage{typeError, c, message, details})
}

// message takes one message of the client. What is wrong with it is told, and nothing else changes.
func (s *Server) message(f codec.Frame) {
	if f.Binary {
		s.fail(parseError, "Failed to parse incoming message", "Error")
		return
	}
	if !json.Valid(f.Data) {
		s.fail(parseError, "Failed to parse incoming message", "SyntaxError")
		return
	}
	var m message
	if json.Unmarshal(f.Data, &m) != nil || isNull(f.Data) {
		s.fail(validationError, "Invalid message format: not an object", "")
		return
	}
	switch word(m.Type) {
	case typeSend:
		s.send(&m)
	case typeSubscribe, typeUnsubscribe:
		id, ok := runtimeID(m.AgentRuntimeID)
		switch {
		case !ok:
			s.invalid("agentRuntimeId", "a string of 1 to 256 bytes")
		case word(m.Type) == typeSubscribe:
			_, n := aboutOf(m.Metadata)
			s.subscribe(id, &n)
		default:
			s.unsubscribe(id)
		}
	default:
		kind := word(m.Type)
		if kind == "" {
			if kind = string(m.Type); kind == "" {
				kind = "undefined"
			}
		}
		s.fail(unknownMessageType, "Unknown message type: "+cut(kind), "")
	}
}

func (s *Server) invalid(field, want string) {
	s.fail(validationError, "Invalid message format: "+field+" must be "+want, "")
}
