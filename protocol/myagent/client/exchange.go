package client

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// An exchange sends frames to the server, pairs their replies and answers the client's commands, on
// one connection.
type exchange struct {
	codec.ClientBase
	capabilities map[string]bool
	isMyAgent    bool // the server's greeting lists no capabilities
	requests     []*request
	arrived      seqTracker // frames
}

// A request is a frame to the server that awaits its reply. A server with the capability "reply"
// answers by id; the frames of any other server are matched by event and session.
type request struct {
	id       string
	event    string
	session  *session // nil before the session is known
	deadline time.Time
	done     func(result json.RawMessage, err *protocol.Error)
}

// send sends a frame.
func (x *exchange) send(f wire.Frame) { x.Send(codec.Frame{Data: f.Encode(x.Now)}) }

// request sends a frame and calls then with the reply.
func (x *exchange) request(f wire.Frame, s *session, then func(json.RawMessage, *protocol.Error)) {
	if len(x.requests) >= maxRequests {
		then(nil, codec.TooMany(maxRequests))
		return
	}
	id := x.Options.ID("q")
	switch {
	case !x.capabilities[wire.CapReply]:
		f.Meta = nil // of agentctl's own
	case f.Meta == nil:
		f.Meta = wire.Meta{"reply_to": id}
	default:
		f.Meta["reply_to"] = id
	}
	if err := x.checkSize(&f); err != nil {
		then(nil, err)
		return
	}
	x.await(f.Event, s, then).id = id
	x.send(f)
}

// await calls then with the reply to a frame that was sent, or after the server did something.
func (x *exchange) await(event string, s *session, then func(json.RawMessage, *protocol.Error)) *request {
	req := &request{event: event, session: s, deadline: x.Now.Add(requestTimeout), done: then}
	x.requests = append(x.requests, req)
	return req
}

// checkSize returns too_large if a server would not accept the frame. Sending it would end the
// connection, and the retry would end the next one.
func (x *exchange) checkSize(f *wire.Frame) *protocol.Error {
	if len(f.Encode(x.Now)) <= protocol.MaxMessage {
		return nil
	}
	return &protocol.Error{
		Code: protocol.CodeTooLarge, Message: "the message is too large for the dialect " + wire.Name,
		Limit: protocol.MaxMessage,
	}
}

// finish removes a request and calls its callback. It does nothing if the request is already
// finished.
func (x *exchange) finish(req *request, result json.RawMessage, err *protocol.Error) {
	i := slices.Index(x.requests, req)
	if i < 0 {
		return
	}
	x.requests = slices.Delete(x.requests, i, i+1)
	req.done(result, err)
}

// find returns the request with an id, or nil. Without an id it returns the first request for one of
// the events that fits the session.
func (x *exchange) find(id string, session string, events ...string) *request {
	for _, req := range x.requests {
		switch {
		case id != "":
			if req.id == id {
				return req
			}
		case !slices.Contains(events, req.event):
		case session == "" || req.session == nil || req.session.serverID == session:
			return req
		}
	}
	return nil
}

// expire fails the requests past their deadline.
func (x *exchange) expire() {
	for _, req := range slices.Clone(x.requests) {
		if !x.Now.Before(req.deadline) {
			x.finish(req, nil, protocol.Errorf(protocol.CodeTimeout, "the server did not answer in time"))
		}
	}
}

// actor returns the actor of the client's own commands, or nil without a name.
func (x *exchange) actor() *protocol.Actor {
	if x.Options.Name == "" {
		return nil
	}
	return x.User()
}

// forward answers a command with the server's reply.
func (x *exchange) forward(cmd *protocol.Command, result json.RawMessage, err *protocol.Error) {
	if err != nil {
		x.Fail(cmd, err)
		return
	}
	x.Answer(cmd, result)
}
