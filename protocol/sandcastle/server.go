package sandcastle

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// Bounds of one connection.
const (
	maxRequests      = 256 // open requests, including streams
	maxSubscriptions = 64  // subscribed sessions
)

// A server is the server end of one connection. It subscribes to each session once for all streams.
type server struct {
	codec.ServerBase
	splitter      lineSplitter
	calls         map[string]*rpcCall      // by request id
	subscriptions map[string]*subscription // by session id
	planned       map[string]string        // the mode before plan of sessions that a send put into plan
}

// An rpcCall is an open request.
type rpcCall struct {
	id    string
	op    operation
	typed bool // errors are those of the real system
	payload
	stream *stream // of opSubscribe
	ended  bool    // later answers are dropped
}

func newServer(o codec.ServerOptions) *server {
	return &server{
		ServerBase: codec.ServerBase{Options: o}, splitter: lineSplitter{limit: protocol.MaxMessage},
		calls: map[string]*rpcCall{}, subscriptions: map[string]*subscription{},
		planned: map[string]string{},
	}
}

// Open implements codec.Codec.
func (s *server) Open(now time.Time) codec.Output {
	return s.run(now, func() { s.Hello(Name) })
}

// Native implements codec.Codec.
func (s *server) Native(now time.Time, line []byte) codec.Output {
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
func (s *server) Foreign(now time.Time, f codec.Frame) codec.Output {
	return s.run(now, func() {
		if !s.splitter.split(f.Data, s.handleMessage) {
			s.send(protocol.MustEncode(defectMessage{tagDefect, "a message is too large"}))
		}
	})
}

// TooLarge sends the error of a message over the size limit. Its request id is unknown.
func (s *server) TooLarge(now time.Time, message string) codec.Output {
	return s.run(now, func() { s.send(protocol.MustEncode(defectMessage{tagDefect, message})) })
}

// Wake implements codec.Codec. It does nothing: no timer is used.
func (s *server) Wake(time.Time) codec.Output { return codec.Output{} }

// run executes one call of the codec.
func (s *server) run(now time.Time, work func()) codec.Output {
	return s.Run(now, func() {
		work()
		s.flush()
	})
}

func (s *server) send(lines ...[]byte) { s.Send(textFrame(lines...)) }

// handleMessage handles a message of the client.
func (s *server) handleMessage(line []byte) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		why := map[string]string{"name": "SyntaxError", "message": "not a message of the protocol"}
		s.send(protocol.MustEncode(defectMessage{tagDefect, why}))
		return
	}
	switch tag := codec.String(m.Tag); tag {
	case tagPing:
		s.send(protocol.MustEncode(controlMessage{Tag: tagPong}))
	case tagRequest:
		s.handleRequest(&m)
	case tagAck:
		id, _ := requestID(m.RequestID)
		if c := s.calls[id]; c != nil && c.stream != nil {
			c.stream.awaitingAck = false
			s.resume(c.stream.subscription)
		}
	case tagInterrupt:
		id, _ := requestID(m.RequestID)
		if c := s.calls[id]; c != nil {
			s.endCall(c, interruptExit(id))
		}
	case tagEOF: // the client sends no more requests; its streams go on
	default:
		s.send(protocol.MustEncode(defectMessage{tagDefect, "Unknown message: " + codec.Excerpt(tag)}))
	}
}

// handleRequest starts a call. An invalid request fails alone.
func (s *server) handleRequest(m *message) {
	id, ok := requestID(m.ID)
	if !ok {
		s.send(protocol.MustEncode(defectMessage{tagDefect, "a request without an id"}))
		return
	}
	if old := s.calls[id]; old != nil {
		s.endCall(old, defectExit(id, "the id "+id+" is in use"))
		return
	}
	if len(s.calls) >= maxRequests || s.Requests.Pending() >= 2*maxRequests {
		s.send(defectExit(id, "too many requests under way"))
		return
	}
	c := &rpcCall{id: id}
	name := codec.String(m.Name)
	c.op, c.typed = operationOf(name)
	if c.op == opNone {
		s.send(defectExit(id, "Unknown request tag: "+codec.Excerpt(name)))
		return
	}
	var err error
	if c.payload, err = decodePayload(m.Payload, c.op); err != nil {
		s.send(defectExit(id, "the payload of "+name+" is malformed"))
		return
	}
	if field := c.missingField(c.op); field != "" {
		s.send(defectExit(id, "{ readonly "+field+": string }\n└─ [\""+field+"\"]\n   └─ is missing"))
		return
	}
	if c.op == opSend && c.Mode != "" && c.Mode != modePlan && c.Mode != modeBuild {
		s.send(defectExit(id, "{ readonly mode?: string }\n└─ [\"mode\"]\n   └─ is neither plan nor build"))
		return
	}
	s.calls[id] = c
	s.dispatch(c)
}

// endCall ends a call with its last message.
func (s *server) endCall(c *rpcCall, last []byte) {
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
func (s *server) failCall(c *rpcCall, err *protocol.Error) {
	s.endCall(c, failureExit(c.id, foreignError(err, &c.payload, c.op, c.typed)))
}
