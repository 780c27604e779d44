package server

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// A Conn is the connection of a foreign client. It implements codec.Codec. It subscribes to each
// session once for all streams.
type Conn struct {
	codec.ServerBase
	splitter      wire.LineSplitter
	calls         map[string]*rpcCall      // by request id
	subscriptions map[string]*subscription // by session id
	planned       map[string]string        // the mode before plan of sessions that a send put into plan
}

// An rpcCall is an open request.
type rpcCall struct {
	id    string
	op    wire.Operation
	typed bool // errors are those of the real system
	wire.Payload
	stream *stream // of opSubscribe
	ended  bool    // later answers are dropped
}

// New returns the server end of a connection.
func New(o codec.ServerOptions) *Conn {
	return &Conn{
		ServerBase: codec.ServerBase{Options: o}, splitter: wire.LineSplitter{Limit: protocol.MaxMessage},
		calls: map[string]*rpcCall{}, subscriptions: map[string]*subscription{},
		planned: map[string]string{},
	}
}

// Open implements codec.Codec.
func (s *Conn) Open(now time.Time) codec.Output {
	return s.run(now, func() { s.Hello(wire.Name) })
}

// Native implements codec.Codec.
func (s *Conn) Native(now time.Time, line []byte) codec.Output {
	return s.run(now, func() {
		e := s.Receive(line)
		if e == nil {
			return
		}
		if sub := s.subscriptions[e.Session]; sub != nil {
			s.handleEvent(sub, e)
		}
	})
}

// Foreign implements codec.Codec.
func (s *Conn) Foreign(now time.Time, f codec.Frame) codec.Output {
	return s.run(now, func() {
		if !s.splitter.Split(f.Data, s.handleMessage) {
			s.send(protocol.MustEncode(wire.DefectMessage{Tag: wire.TagDefect, Defect: "a message is too large"}))
		}
	})
}

// TooLarge sends the error of a message over the size limit. Its request id is unknown.
func (s *Conn) TooLarge(now time.Time, message string) codec.Output {
	return s.run(now, func() { s.send(protocol.MustEncode(wire.DefectMessage{Tag: wire.TagDefect, Defect: message})) })
}

// Wake implements codec.Codec. It does nothing: no timer is used.
func (s *Conn) Wake(time.Time) codec.Output { return codec.Output{} }

// run executes one call of the codec.
func (s *Conn) run(now time.Time, work func()) codec.Output {
	return s.Run(now, func() {
		work()
		s.flush()
	})
}

func (s *Conn) send(lines ...[]byte) { s.Send(wire.TextFrame(lines...)) }

// handleMessage handles a message of the client.
func (s *Conn) handleMessage(line []byte) {
	var m wire.Message
	if err := json.Unmarshal(line, &m); err != nil {
		why := map[string]string{"name": "SyntaxError", "message": "not a message of the protocol"}
		s.send(protocol.MustEncode(wire.DefectMessage{Tag: wire.TagDefect, Defect: why}))
		return
	}
	switch tag := codec.String(m.Tag); tag {
	case wire.TagPing:
		s.send(protocol.MustEncode(wire.ControlMessage{Tag: wire.TagPong}))
	case wire.TagRequest:
		s.handleRequest(&m)
	case wire.TagAck:
		id, _ := wire.RequestID(m.RequestID)
		if c := s.calls[id]; c != nil && c.stream != nil {
			c.stream.awaitingAck = false
			s.resume(c.stream.subscription)
		}
	case wire.TagInterrupt:
		id, _ := wire.RequestID(m.RequestID)
		if c := s.calls[id]; c != nil {
			s.endCall(c, wire.InterruptExit(id))
		}
	case wire.TagEOF: // the client sends no more requests; its streams go on
	default:
		s.send(protocol.MustEncode(wire.DefectMessage{Tag: wire.TagDefect, Defect: "Unknown message: " + codec.Excerpt(tag)}))
	}
}

// handleRequest starts a call. An invalid request fails alone.
func (s *Conn) handleRequest(m *wire.Message) {
	id, ok := wire.RequestID(m.ID)
	if !ok {
		s.send(protocol.MustEncode(wire.DefectMessage{Tag: wire.TagDefect, Defect: "a request without an id"}))
		return
	}
	if old := s.calls[id]; old != nil {
		s.endCall(old, wire.DefectExit(id, "the id "+id+" is in use"))
		return
	}
	if len(s.calls) >= wire.MaxRequests || s.Requests.Pending() >= 2*wire.MaxRequests {
		s.send(wire.DefectExit(id, "too many requests under way"))
		return
	}
	c := &rpcCall{id: id}
	name := codec.String(m.Name)
	c.op, c.typed = wire.OperationOf(name)
	if c.op == wire.OpNone {
		s.send(wire.DefectExit(id, "Unknown request tag: "+codec.Excerpt(name)))
		return
	}
	var err error
	if c.Payload, err = wire.DecodePayload(m.Payload, c.op); err != nil {
		s.send(wire.DefectExit(id, "the payload of "+name+" is malformed"))
		return
	}
	if field := c.MissingField(c.op); field != "" {
		s.send(wire.DefectExit(id, "{ readonly "+field+": string }\n└─ [\""+field+"\"]\n   └─ is missing"))
		return
	}
	if c.op == wire.OpSend && c.Mode != "" && c.Mode != wire.ModePlan && c.Mode != wire.ModeBuild {
		s.send(wire.DefectExit(id, "{ readonly mode?: string }\n└─ [\"mode\"]\n   └─ is neither plan nor build"))
		return
	}
	s.calls[id] = c
	s.dispatch(c)
}

// endCall ends a call with its last message.
func (s *Conn) endCall(c *rpcCall, last []byte) {
	if c.ended {
		return
	}
	c.ended = true
	delete(s.calls, c.id)
	s.send(last)
	if c.stream != nil {
		s.detachStream(c.stream)
	}
}

// failCall ends a call with a native error.
func (s *Conn) failCall(c *rpcCall, err *protocol.Error) {
	s.endCall(c, wire.FailureExit(c.id, foreignError(err, &c.Payload, c.op, c.typed)))
}
