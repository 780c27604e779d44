package sandcastle

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/bridge"
)

// A session is one that our client follows.
type session struct {
	id     string
	log    *bridge.Log // nil before the first InitialState
	stream string      // the request that streams it; empty: it broke off
	subs   []protocol.Command
	past   *past // while it is asked for

	user    *queued // whose turn is about to start
	turn    *turn
	decided map[string]protocol.Winner // the newest decisions, by request
	order   []string                   // of decided
}

// A past is what a stream said while the finished turns are asked for. The server says no more before our Ack.
type past struct {
	stream string
	values []json.RawMessage
}

// maxDecided bounds the decisions that are remembered.
const maxDecided = 256

// subscribe follows a session, or attaches to one that is followed already.
func (c *Client) subscribe(cmd protocol.Command) {
	s := c.sessions[cmd.Session]
	if s != nil && s.log != nil {
		s.log.Attach(c.out, &c.desk, &cmd, c.now)
		return
	}
	if s == nil {
		if len(c.sessions) >= maxViews {
			c.desk.Fail(c.out, &cmd, protocol.Errorf(protocol.CodeTooMany, "too many sessions followed"))
			return
		}
		s = &session{id: cmd.Session, decided: map[string]protocol.Winner{}}
		c.sessions[s.id] = s
		s.subs = append(s.subs, cmd)
		c.open(s)
		return
	}
	if len(s.subs) >= maxCalls {
		c.desk.Fail(c.out, &cmd, protocol.Errorf(protocol.CodeTooMany, "too many requests under way"))
		return
	}
	s.subs = append(s.subs, cmd)
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

// add records what happened in a session. What is too large to be an event is told of, not kept.
func (c *Client) add(s *session, en bridge.Entry) {
	if data, err := protocol.Encode(en.Data); err == nil && len(data) > protocol.MaxEvent-1024 {
		en = bridge.Entry{Type: protocol.Raw, Turn: en.Turn, Data: protocol.RawData{
			Source: Name, Method: string(en.Type), Bytes: int64(len(data)),
		}}
	}
	s.log.Add(c.out, c.now, en)
}

// raw keeps what maps to nothing.
func (c *Client) raw(s *session, turn, method string, data json.RawMessage) {
	whole, _ := protocol.Compact(data)
	c.add(s, bridge.Entry{Type: protocol.Raw, Turn: turn, Data: protocol.RawData{Source: Name, Method: method, Data: whole}})
}

// sessionEvent takes a value of a session's stream.
func (c *Client) sessionEvent(s *session, raw json.RawMessage) {
	if s.past != nil {
		s.past.values = append(s.past.values, raw)
		return
	}
	var e sessionEvent
	err := json.Unmarshal(raw, &e)
	if s.log == nil {
		if err == nil && e.Tag == initialState && e.Snapshot != nil {
			c.begin(s, &e, raw)
		}
		return // nothing can be said of a session before its state is known
	}
	turn := ""
	if s.turn != nil {
		turn = s.turn.id
	}
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
		c.add(s, bridge.Entry{Type: protocol.QueueAdded, Data: protocol.QueueAddedData{Message: e.Message.message()}})
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
	c.add(s, bridge.Entry{Type: protocol.QueueRemoved, Data: protocol.QueueRemovedData{MessageID: id, Reason: reason}})
}

// closed notes that the session is no more.
func (c *Client) closed(s *session) {
	if !s.log.State.Closed {
		c.stopped(s, &sessionEvent{TurnID: s.turnID(), Reason: stopError}, nil)
		c.add(s, bridge.Entry{Type: protocol.SessionClosed, Data: protocol.SessionClosedData{Reason: "deleted"}})
	}
}

// forget keeps a user's message whose turn never started.
func (c *Client) forget(s *session) {
	if s.user != nil {
		c.raw(s, "", userMessage, protocol.MustEncode(s.user))
		s.user = nil
	}
}

// begin makes the log of a session's first state, when its past is known.
func (c *Client) begin(s *session, e *sessionEvent, raw json.RawMessage) {
	last := e.Snapshot.HistoryCursor.LastMessageID
	start := func(messages []chatMessage) {
		c.logs++
		s.log = bridge.NewLog(s.id, c.desk.Epoch+"x"+strconv.Itoa(c.logs))
		s.log.Begin(e.Snapshot.state(s.id, c.now))
		c.recount(s, messages, last)
		c.current(s, e)
		for _, cmd := range s.subs {
			s.log.Attach(c.out, &c.desk, &cmd, c.now)
		}
		s.subs = nil
	}
	if last == nil || c.manners.tags[opHistory] == "" {
		start(nil)
		return
	}
	s.past = &past{stream: s.stream}
	c.ask(&inquiry{op: opHistory, payload: payload{SessionID: s.id}, then: func(v json.RawMessage, err *protocol.Error) {
		if c.sessions[s.id] != s {
			return
		}
		p := s.past
		s.past = nil
		start(chatMessages(v))
		for _, v := range p.values {
			c.sessionEvent(s, v)
		}
		if s.stream == p.stream {
			c.say(control{tagAck, p.stream})
		}
	}})
}

// state is what a snapshot says of a session, but for the turn under way.
func (snap *snapshot) state(id string, now time.Time) *protocol.State {
	st := &protocol.State{Session: id, Agent: Name, Created: now.UTC().Truncate(time.Millisecond)}
	for i := range snap.Queue {
		st.Queue = append(st.Queue, snap.Queue[i].message())
	}
	if last := snap.HistoryCursor.LastMessageID; last != nil {
		st.History.LastMessageID = *last
	}
	if at := snap.HistoryCursor.LastMessageAt; at != nil && !stamped(*at).IsZero() {
		t := stamped(*at)
		st.History.LastMessageAt = &t
	}
	return st
}

// current adds the turn under way.
func (c *Client) current(s *session, e *sessionEvent) {
	id := e.Snapshot.ActiveTurnID
	if id == nil {
		return
	}
	start := sessionEvent{TurnID: *id}
	if t := e.TurnContext; t != nil {
		start.StartedAt = t.StartedAt
		s.user = &queued{ID: t.MessageID, Content: t.Content, Parts: t.Parts, ClientMessageID: t.ClientMessageID}
	}
	c.started(s, &start)
	for _, raw := range e.Buffer {
		c.chat(s, raw)
	}
	for _, p := range e.PendingApprovals {
		c.pending(s, p.ToolCallID, p.ToolName)
	}
}

// again takes the state of a session that is known: its stream broke off and was opened again, or the server began anew. What is
// new is told as events.
func (c *Client) again(s *session, e *sessionEvent) {
	queue := e.Snapshot.state(s.id, c.now).Queue
	if string(protocol.MustEncode(queue)) != string(protocol.MustEncode(s.log.State.Queue)) {
		for len(s.log.State.Queue) > 0 {
			n := len(s.log.State.Queue)
			c.dequeued(s, s.log.State.Queue[0].MessageID)
			if len(s.log.State.Queue) == n {
				break
			}
		}
		for _, m := range queue {
			c.add(s, bridge.Entry{Type: protocol.QueueAdded, Data: protocol.QueueAddedData{Message: m}})
		}
	}
	if s.turn != nil && e.Snapshot.ActiveTurnID != nil && *e.Snapshot.ActiveTurnID == s.turn.id && s.turn.continues(e.Buffer) {
		for _, raw := range e.Buffer[s.turn.buffered:] {
			c.chat(s, raw)
		}
		return
	}
	if s.turn != nil {
		lost := "the server does not tell how the turn ended"
		s.turn.fault = &lost
		c.stopped(s, &sessionEvent{TurnID: s.turn.id, Reason: stopError}, nil)
	}
	c.current(s, e)
}

func (s *session) turnID() string {
	if s.turn == nil {
		return ""
	}
	return s.turn.id
}
