package sandcastle

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A session is one that our client follows.
type session struct {
	id     string
	log    *codec.Log         // nil before the first InitialState
	stream string             // the request that streams it; empty: it broke off
	subs   []protocol.Command // wait for that
	past   *past              // while it is asked for

	user    *queued // whose turn is about to start
	turn    *turn
	last    *string                    // message of finished turns, as their history names it, empty: none; nil: not known
	recent  []recent                   // messages that began turns, oldest first
	decided map[string]protocol.Winner // the newest decisions, by request
	order   []string                   // of decided
}

// maxDecided bounds the decisions that are remembered.
const maxDecided = 256

// subscribe follows a session.
func (c *Client) subscribe(cmd protocol.Command) {
	if s := c.known(cmd); s != nil {
		s.log.Attach(c.out, &c.desk, &cmd, c.now)
	}
}

// known returns the session of a command. One that is not known yet is streamed from now on, which is the only way to learn all of
// it; then nil is returned, and the command is carried out when its state has come.
func (c *Client) known(cmd protocol.Command) *session {
	s := c.sessions[cmd.Session]
	switch {
	case s != nil && s.log != nil:
		return s
	case s == nil && len(c.sessions) >= maxViews:
		c.desk.Fail(c.out, &cmd, protocol.Errorf(protocol.CodeTooMany, "too many sessions followed"))
	case s == nil:
		s = &session{id: cmd.Session, decided: map[string]protocol.Winner{}, subs: []protocol.Command{cmd}}
		c.sessions[s.id] = s
		c.open(s)
	case len(s.subs) >= maxCalls:
		c.desk.Fail(c.out, &cmd, protocol.Errorf(protocol.CodeTooMany, "too many requests under way"))
	default:
		s.subs = append(s.subs, cmd)
	}
	return nil
}

// open asks for a session's stream.
func (c *Client) open(s *session) {
	s.stream = "?" // asked for
	c.ask(&inquiry{op: opSubscribe, payload: payload{SessionID: s.id}, session: s, then: func(_ json.RawMessage, err *protocol.Error) {
		if c.sessions[s.id] != s {
			return
		}
		s.stream = ""
		switch {
		case s.log == nil:
			if err == nil {
				err = protocol.Errorf(protocol.CodeInternal, "the server ended the stream before it began")
			}
			delete(c.sessions, s.id)
			for _, cmd := range s.subs {
				c.desk.Fail(c.out, &cmd, err)
			}
		case err != nil && err.Code == protocol.CodeNoSession && !s.log.State.Closed:
			c.closed(s)
		case !s.log.State.Closed:
			c.broken()
		}
	}})
}

// leave stops following a session.
func (c *Client) leave(s *session) {
	delete(c.sessions, s.id)
	if q := c.asked[s.stream]; q != nil && q.session == s {
		delete(c.asked, s.stream)
		c.say(control{tagInterrupt, s.stream})
	}
	c.held = slices.DeleteFunc(c.held, func(q *inquiry) bool { return q.session == s })
	for _, cmd := range s.subs {
		c.desk.Fail(c.out, &cmd, protocol.Errorf(protocol.CodeNotSubscribed, "unsubscribed meanwhile"))
	}
	if s.turn != nil {
		c.release(s.turn)
	}
}

// ordered lists the sessions, always in the same order.
func (c *Client) ordered() []*session {
	list := make([]*session, 0, len(c.sessions))
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
		list = append(list, c.sessions[id])
	}
	return list
}

// add records what happened in a session. What is too large to be an event is told of, not kept; so is what would make the state
// grow beyond measure.
func (c *Client) add(s *session, en codec.Entry) {
	data, err := protocol.Encode(en.Data)
	if err == nil && (len(data) > protocol.MaxEvent-1024 || s.full(en.Type)) {
		en = codec.Entry{Type: protocol.Raw, Turn: en.Turn, Data: protocol.RawData{
			Source: Name, Method: string(en.Type), Bytes: int64(len(data)),
		}}
	}
	s.log.Add(c.out, c.now, en)
}

// full reports whether the state holds as many of a kind as it may.
func (s *session) full(t protocol.Type) bool {
	st := s.log.State
	switch t {
	case protocol.QueueAdded:
		return len(st.Queue) >= maxOpen
	case protocol.TextStart, protocol.ReasoningStart:
		return st.Turn != nil && len(st.Turn.Parts) >= maxOpen
	case protocol.ToolStarted:
		return st.Turn != nil && len(st.Turn.Tools) >= maxOpen
	case protocol.ApprovalResolved:
		return len(st.Rules) >= maxOpen
	}
	return false
}

// raw keeps what maps to nothing.
func (c *Client) raw(s *session, turn, method string, data json.RawMessage) {
	c.add(s, codec.Entry{Type: protocol.Raw, Turn: turn, Data: codec.Raw(Name, method, data)})
}

// errDeep is why a message is not looked into: what holds its parts would nest deeper yet.
var errDeep = errors.New("nested too deep")

// sessionEvent takes a value of a session's stream.
func (c *Client) sessionEvent(s *session, raw json.RawMessage) {
	if s.past != nil {
		s.past.values = append(s.past.values, raw)
		if s.past.bytes += len(raw); s.past.bytes > maxLine { // it does not wait for our Ack
			s.past.known(nil)
		}
		return
	}
	var e sessionEvent
	err := json.Unmarshal(raw, &e)
	if err == nil && !codec.Shallow(raw) {
		err = errDeep
	}
	if s.log == nil {
		if err == nil && e.Tag == initialState && e.Snapshot != nil {
			c.begin(s, &e)
		}
		return // nothing can be said of a session before its state is known
	}
	turn := s.turnID()
	switch {
	case err != nil:
		c.raw(s, turn, cut(e.Tag), raw)
	case e.Tag == initialState && e.Snapshot != nil:
		c.again(s, &e)
	case e.Tag == userMessage && e.Message != nil:
		c.forget(s)
		s.user = e.Message
	case e.Tag == sessionStarted && e.TurnID != "":
		c.started(s, &e)
	case e.Tag == sessionStopped:
		c.stopped(s, &e, raw)
	case e.Tag == streamEvent && s.turn != nil && e.TurnID == s.turn.id:
		c.chat(s, e.Event)
	case e.Tag == streamEvent:
		c.chatAside(s, turn, e.Event, raw)
	case e.Tag == messageQueued && e.Message != nil:
		c.add(s, codec.Entry{Type: protocol.QueueAdded, Data: protocol.QueueAddedData{Message: e.Message.message()}})
	case e.Tag == messageDequeued:
		c.dequeued(s, e.MessageID)
	case e.Tag == sessionDeleted:
		c.closed(s)
	default:
		c.raw(s, turn, cut(e.Tag), raw)
	}
}

func (c *Client) dequeued(s *session, id string) {
	reason := protocol.RemovedUser
	if s.turn == nil {
		reason = protocol.RemovedStarted // between turns a message leaves the queue to start
	}
	c.add(s, codec.Entry{Type: protocol.QueueRemoved, Data: protocol.QueueRemovedData{MessageID: id, Reason: reason}})
}

// closed notes that the session is no more.
func (c *Client) closed(s *session) {
	if !s.log.State.Closed {
		c.stopped(s, &sessionEvent{TurnID: s.turnID(), Reason: stopError}, nil)
		c.add(s, codec.Entry{Type: protocol.SessionClosed, Data: protocol.SessionClosedData{Reason: "deleted"}})
	}
}

// forget keeps a user's message whose turn never started.
func (c *Client) forget(s *session) {
	if s.user != nil {
		c.raw(s, "", userMessage, protocol.MustEncode(s.user))
		s.user = nil
	}
}

func (s *session) turnID() string {
	if s.turn == nil {
		return ""
	}
	return s.turn.id
}
