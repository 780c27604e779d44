package client

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

// A request is a frame to the server that awaits its reply. A server with the capability "reply"
// answers by id; the frames of any other server are matched by event and session.
type request struct {
	id       string
	event    string
	session  *session // nil before the session is known
	deadline time.Time
	done     func(result json.RawMessage, err *protocol.Error)
}

// sendRequest sends a frame and calls then with the reply.
func (c *Conn) sendRequest(f wire.Frame, s *session, then func(json.RawMessage, *protocol.Error)) {
	if len(c.requests) >= maxRequests {
		then(nil, codec.TooMany(maxRequests))
		return
	}
	req := &request{id: c.Options.ID("q"), event: f.Event, session: s, deadline: c.Now.Add(requestTimeout), done: then}
	switch {
	case !c.capabilities[wire.CapReply]:
		f.Meta = nil // of agentctl's own
	case f.Meta == nil:
		f.Meta = wire.Meta{"reply_to": req.id}
	default:
		f.Meta["reply_to"] = req.id
	}
	if err := c.checkSize(&f); err != nil {
		then(nil, err)
		return
	}
	c.requests = append(c.requests, req)
	c.send(f)
}

// checkSize returns too_large if a server would not accept the frame. Sending it would end the
// connection, and the retry would end the next one.
func (c *Conn) checkSize(f *wire.Frame) *protocol.Error {
	if len(f.Encode(c.Now)) <= protocol.MaxMessage {
		return nil
	}
	return &protocol.Error{
		Code: protocol.CodeTooLarge, Message: "the message is too large for the dialect " + wire.Name,
		Limit: protocol.MaxMessage,
	}
}

// finishRequest removes a request and calls its callback. It does nothing if the request is already
// finished.
func (c *Conn) finishRequest(req *request, result json.RawMessage, err *protocol.Error) {
	i := slices.Index(c.requests, req)
	if i < 0 {
		return
	}
	c.requests = slices.Delete(c.requests, i, i+1)
	req.done(result, err)
}

// findRequest returns the request with an id, or nil. Without an id it returns the first request
// for one of the events that fits the session.
func (c *Conn) findRequest(id string, session string, events ...string) *request {
	for _, req := range c.requests {
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
