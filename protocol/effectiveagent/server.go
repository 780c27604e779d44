package effectiveagent

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A server is the codec at agentctl's server. It follows each session once, under any number of
// names.
type server struct {
	codec.ServerBase
	form          activityForm
	subscribers   map[string]*subscriber   // by the client's names
	subscriptions map[string]*subscription // the sessions behind them
}

var _ codec.Codec = (*server)(nil)

// newServer returns the codec of a foreign client's connection. The option "activities" is the form
// of activities before the client shows its own: "document" (the default) or "system".
func newServer(o codec.ServerOptions) *server {
	return &server{
		ServerBase: codec.ServerBase{Options: o}, form: formFromOptions(o.Options),
		subscribers: map[string]*subscriber{}, subscriptions: map[string]*subscription{},
	}
}

// Open implements codec.Codec.
func (s *server) Open(now time.Time) codec.Output {
	return s.Run(now, func() { s.Hello(Name) })
}

// Native implements codec.Codec.
func (s *server) Native(now time.Time, line []byte) codec.Output {
	return s.Run(now, func() {
		if e := s.Receive(line); e != nil {
			s.encodeEvent(e)
		}
	})
}

// Foreign implements codec.Codec.
func (s *server) Foreign(now time.Time, f codec.Frame) codec.Output {
	return s.Run(now, func() { s.handleMessage(f) })
}

// TooLarge reports a message over the limit.
func (s *server) TooLarge(now time.Time, message string) codec.Output {
	return s.Run(now, func() {
		s.fail(
			validationError, "Invalid message format: "+message, string(protocol.CodeTooLarge),
		)
	})
}

// Wake implements codec.Codec: there are no timeouts.
func (s *server) Wake(time.Time) codec.Output { return codec.Output{} }

// send sends a message.
func (s *server) send(m any) { s.Send(encodeMessage(m)) }

// fail sends an error. details name its class only.
func (s *server) fail(c errorCode, message, details string) {
	s.send(errorMessage{typeError, c, message, details})
}

// handleMessage carries out a message of the client. An invalid one gets an error and has no other
// effect.
func (s *server) handleMessage(f codec.Frame) {
	if f.Binary {
		s.fail(parseError, "Failed to parse incoming message", "Error")
		return
	}
	if !json.Valid(f.Data) {
		s.fail(parseError, "Failed to parse incoming message", "SyntaxError")
		return
	}
	var m message
	if json.Unmarshal(f.Data, &m) != nil || codec.IsNull(f.Data) {
		s.fail(validationError, "Invalid message format: not an object", "")
		return
	}
	switch codec.String(m.Type) {
	case typeSend:
		s.sendMessage(&m)
	case typeSubscribe, typeUnsubscribe:
		id, ok := runtimeID(m.AgentRuntimeID)
		switch {
		case !ok:
			s.failField("agentRuntimeId", "a string of 1 to 256 bytes")
		case codec.String(m.Type) == typeSubscribe:
			_, n := decodeMetadata(m.Metadata)
			s.subscribe(id, &n)
		default:
			s.unsubscribe(id)
		}
	default:
		kind := codec.String(m.Type)
		if kind == "" {
			if kind = string(m.Type); kind == "" {
				kind = "undefined"
			}
		}
		s.fail(unknownMessageType, "Unknown message type: "+codec.Excerpt(kind), "")
	}
}

func (s *server) failField(field, want string) {
	s.fail(validationError, "Invalid message format: "+field+" must be "+want, "")
}
