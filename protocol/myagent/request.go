package myagent

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
)

// An ask is a frame of ours that waits for its answer: from a server that replies by its id, else by what it is about.
type request struct {
	id       string
	event    string
	session  *session // nil: none yet
	deadline time.Time
	done     func(result json.RawMessage, err *protocol.Error)
}

// ask sends a frame and waits for its answer.
func (c *clientCodec) sendRequest(f frame, s *session, then func(json.RawMessage, *protocol.Error)) {
	if len(c.requests) >= maxRequests {
		then(nil, protocol.Errorf(protocol.CodeTooMany, "too many commands at once"))
		return
	}
	a := &request{id: c.options.ID("q"), event: f.Event, session: s, deadline: c.now.Add(requestTimeout), done: then}
	if f.Meta == nil {
		f.Meta = meta{}
	}
	f.Meta["reply_to"] = a.id
	if err := c.checkSize(&f); err != nil {
		then(nil, err)
		return
	}
	c.requests = append(c.requests, a)
	c.send(f)
}

// large tells that a frame is more than a server takes, which would end the connection, again and again; nil: it is not.
func (c *clientCodec) checkSize(f *frame) *protocol.Error {
	if len(f.encode(c.now)) <= protocol.MaxMessage {
		return nil
	}
	return &protocol.Error{Code: protocol.CodeTooLarge, Message: "the message is too large for the dialect " + Name, Limit: protocol.MaxMessage}
}

// settle gives an ask its answer.
func (c *clientCodec) finishRequest(a *request, result json.RawMessage, err *protocol.Error) {
	i := slices.Index(c.requests, a)
	if i < 0 {
		return
	}
	c.requests = slices.Delete(c.requests, i, i+1)
	a.done(result, err)
}

// waiting returns the ask with that id, or without one the first of an event that fits the session, or nil.
func (c *clientCodec) findRequest(id string, session string, events ...string) *request {
	for _, a := range c.requests {
		switch {
		case id != "":
			if a.id == id {
				return a
			}
		case !slices.Contains(events, a.event):
		case session == "" || a.session == nil || a.session.serverID == session:
			return a
		}
	}
	return nil
}
