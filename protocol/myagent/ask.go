package myagent

import (
	"encoding/json"
	"slices"
	"time"

	"agentctl/protocol"
)

// An ask is a frame of ours that waits for its answer: from a server that replies by its id, else by what it is about.
type ask struct {
	id      string
	event   string
	session *session // nil: none yet
	due     time.Time
	then    func(result json.RawMessage, err *protocol.Error)
}

// ask sends a frame and waits for its answer.
func (c *client) ask(f frame, s *session, then func(json.RawMessage, *protocol.Error)) {
	if len(c.asks) >= maxAsks {
		then(nil, protocol.Errorf(protocol.CodeTooMany, "too many commands at once"))
		return
	}
	a := &ask{id: c.call.ID("q"), event: f.Event, session: s, due: c.now.Add(askWithin), then: then}
	if f.Meta == nil {
		f.Meta = meta{}
	}
	f.Meta["reply_to"] = a.id
	if err := c.large(&f); err != nil {
		then(nil, err)
		return
	}
	c.asks = append(c.asks, a)
	c.say(f)
}

// large tells that a frame is more than a server takes, which would end the connection, again and again; nil: it is not.
func (c *client) large(f *frame) *protocol.Error {
	if len(f.encode(c.now)) <= protocol.MaxMessage {
		return nil
	}
	return &protocol.Error{Code: protocol.CodeTooLarge, Message: "the message is too large for the dialect " + Name, Limit: protocol.MaxMessage}
}

// settle gives an ask its answer.
func (c *client) settle(a *ask, result json.RawMessage, err *protocol.Error) {
	i := slices.Index(c.asks, a)
	if i < 0 {
		return
	}
	c.asks = slices.Delete(c.asks, i, i+1)
	a.then(result, err)
}

// waiting returns the ask with that id, or without one the first of an event that fits the session, or nil.
func (c *client) waiting(id string, session string, events ...string) *ask {
	for _, a := range c.asks {
		switch {
		case id != "":
			if a.id == id {
				return a
			}
		case !slices.Contains(events, a.event):
		case session == "" || a.session == nil || a.session.foreign == session:
			return a
		}
	}
	return nil
}
