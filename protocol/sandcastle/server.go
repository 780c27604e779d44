package sandcastle

import (
	"encoding/json"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Bounds of one connection.
const (
	maxCalls = 256 // requests under way, streams among them
	maxViews = 64  // sessions followed
)

// A Server is the codec at our server's end. It follows each session once, however many streams ask for it.
type Server struct {
	door   codec.ServerOptions
	native codec.Requests
	lines  lines
	calls  map[string]*call // by request id
	views  map[string]*view // by session id

	now time.Time // of the call under way
	out *codec.Output
}

// A call is a request under way.
type call struct {
	id    string
	op    operation
	typed bool // errors are the real system's
	payload
	stream *stream // of opSubscribe
	ended  bool    // what comes of it now is nobody's
}

// NewServer makes the codec of a foreign client's connection.
func NewServer(d codec.ServerOptions) *Server {
	return &Server{door: d, lines: lines{limit: protocol.MaxMessage}, calls: map[string]*call{}, views: map[string]*view{}}
}

// Open implements codec.Codec.
func (s *Server) Open(now time.Time) codec.Output {
	return s.do(now, func() {
		hello := protocol.HelloData{Version: protocol.Version, Name: s.door.By.Name, Agent: Name}
		s.native.Do(s.out, protocol.DoHello, "", "", hello, nil)
	})
}

// Native implements codec.Codec.
func (s *Server) Native(now time.Time, line []byte) codec.Output {
	return s.do(now, func() {
		e := s.native.Receive(line)
		if e == nil {
			return
		}
		if v := s.views[e.Session]; v != nil {
			s.event(v, e)
		}
	})
}

// Foreign implements codec.Codec.
func (s *Server) Foreign(now time.Time, f codec.Frame) codec.Output {
	return s.do(now, func() {
		if !s.lines.take(f.Data, s.message) {
			s.say(protocol.MustEncode(defect{tagDefect, "a message is too large"}))
		}
	})
}

// TooLarge says that a message is over the limit: which request it was cannot be read.
func (s *Server) TooLarge(now time.Time, message string) codec.Output {
	return s.do(now, func() { s.say(protocol.MustEncode(defect{tagDefect, message})) })
}

// Wake implements codec.Codec: nothing here waits for a time.
func (s *Server) Wake(time.Time) codec.Output { return codec.Output{} }

// do carries out one call of the codec.
func (s *Server) do(now time.Time, work func()) codec.Output {
	s.now, s.out = now, &codec.Output{}
	work()
	s.flush()
	out := s.out
	s.out = nil
	return *out
}

func (s *Server) say(lines ...[]byte) { s.out.Foreign = append(s.out.Foreign, text(lines...)) }

// message takes one message of the client.
func (s *Server) message(line []byte) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		why := map[string]string{"name": "SyntaxError", "message": "not a message of the protocol"}
		s.say(protocol.MustEncode(defect{tagDefect, why}))
		return
	}
	switch tag := word(m.Tag); tag {
	case tagPing:
		s.say(protocol.MustEncode(control{Tag: tagPong}))
	case tagRequest:
		s.request(&m)
	case tagAck:
		id, _ := requestID(m.RequestID)
		if c := s.calls[id]; c != nil && c.stream != nil {
			c.stream.waiting = false
			s.resume(c.stream.view)
		}
	case tagInterrupt:
		id, _ := requestID(m.RequestID)
		if c := s.calls[id]; c != nil {
			s.end(c, interrupted(id))
		}
	case tagEOF: // the client asks for nothing more; its streams go on
	default:
		s.say(protocol.MustEncode(defect{tagDefect, "Unknown message: " + cut(tag)}))
	}
}

// request begins a call. What is wrong with one request ends that request alone.
func (s *Server) request(m *message) {
	id, ok := requestID(m.ID)
	if !ok {
		s.say(protocol.MustEncode(defect{tagDefect, "a request without an id"}))
		return
	}
	if old := s.calls[id]; old != nil {
		s.end(old, died(id, "the id "+id+" is in use"))
		return
	}
	if len(s.calls) >= maxCalls || s.native.Pending() >= 2*maxCalls {
		s.say(died(id, "too many requests under way"))
		return
	}
	c := &call{id: id}
	name := word(m.Name)
	c.op, c.typed = operationOf(name)
	if c.op == opNone {
		s.say(died(id, "Unknown request tag: "+cut(name)))
		return
	}
	if err := json.Unmarshal(m.Payload, &c.payload); err != nil {
		s.say(died(id, "the payload of "+name+" is malformed"))
		return
	}
	if field := c.missing(c.op); field != "" {
		s.say(died(id, "{ readonly "+field+": string }\n└─ [\""+field+"\"]\n   └─ is missing"))
		return
	}
	s.calls[id] = c
	s.begin(c)
}

// end ends a call with its last message.
func (s *Server) end(c *call, last []byte) {
	if c.ended {
		return
	}
	c.ended = true
	delete(s.calls, c.id)
	s.say(last)
	if c.stream != nil {
		s.leave(c.stream)
	}
}

// answer ends a call with a value or a native error.
func (s *Server) answer(c *call, a protocol.Answer, value func() any) {
	if a.Error != nil {
		s.end(c, failed(c.id, errorOf(a.Error, &c.payload, c.op, c.typed)))
		return
	}
	s.end(c, succeeded(c.id, value()))
}

// cut shortens what a client said, to be repeated to it.
func cut(s string) string { return strings.ToValidUTF8(s[:min(len(s), 80)], "") }
