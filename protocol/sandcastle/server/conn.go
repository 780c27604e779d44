package server

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// A Conn is the connection of a foreign client. It implements codec.Codec. It carries out the
// client's requests.
type Conn struct {
	*exchange
	splitter      wire.LineSplitter
	subscriptions subscriptions
	modes         modes
}

// New returns the server end of a connection.
func New(o codec.ServerOptions) *Conn {
	x := &exchange{ServerBase: codec.ServerBase{Options: o}, calls: map[string]*rpcCall{}}
	return &Conn{
		x,
		wire.LineSplitter{Limit: protocol.MaxMessage},
		subscriptions{x, map[string]*subscription{}},
		modes{x, map[string]string{}},
	}
}

// Open implements codec.Codec.
func (s *Conn) Open(now time.Time) codec.Output {
	return s.run(now, func() { s.Hello(wire.Name) })
}

// Native implements codec.Codec.
func (s *Conn) Native(now time.Time, line []byte) codec.Output {
	return s.run(now, func() {
		if e := s.Receive(line); e != nil {
			s.subscriptions.handleEvent(e)
		}
	})
}

// Foreign implements codec.Codec.
func (s *Conn) Foreign(now time.Time, f codec.Frame) codec.Output {
	return s.run(now, func() {
		if !s.splitter.Split(f.Data, s.handleMessage) {
			s.sendDefect("a message is too large")
		}
	})
}

// TooLarge sends the error of a message over the size limit. Its request id is unknown.
func (s *Conn) TooLarge(now time.Time, message string) codec.Output {
	return s.run(now, func() { s.sendDefect(message) })
}

// Wake implements codec.Codec. It does nothing: no timer is used.
func (s *Conn) Wake(time.Time) codec.Output { return codec.Output{} }

// run executes one call of the codec.
func (s *Conn) run(now time.Time, work func()) codec.Output {
	return s.Run(now, func() {
		work()
		s.subscriptions.flush()
	})
}

// handleMessage handles a message of the client.
func (s *Conn) handleMessage(line []byte) {
	var m wire.Message
	if err := json.Unmarshal(line, &m); err != nil {
		s.sendDefect(map[string]string{"name": "SyntaxError", "message": "not a message of the protocol"})
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
			s.subscriptions.acknowledge(c.stream)
		}
	case wire.TagInterrupt:
		id, _ := wire.RequestID(m.RequestID)
		if c := s.calls[id]; c != nil {
			s.end(c, wire.InterruptExit(id))
		}
	case wire.TagEOF: // the client sends no more requests; its streams continue
	default:
		s.sendDefect("Unknown message: " + codec.Excerpt(tag))
	}
}

// handleRequest starts a call. An invalid request fails only itself.
func (s *Conn) handleRequest(m *wire.Message) {
	id, ok := wire.RequestID(m.ID)
	if !ok {
		s.sendDefect("a request without an id")
		return
	}
	if old := s.calls[id]; old != nil {
		s.end(old, wire.DefectExit(id, "the id "+id+" is in use"))
		return
	}
	if len(s.calls) >= wire.MaxRequests || s.Requests.Pending() >= 2*wire.MaxRequests {
		s.send(wire.DefectExit(id, "too many pending requests"))
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
