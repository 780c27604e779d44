package sandcastle

import (
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A past is what a stream said while the finished turns are asked for. The server says no more before our Ack.
type past struct {
	stream string
	values []json.RawMessage
	bytes  int
	known  func([]chatMessage)
}

// begin makes the log of a session's first state, when its past is known.
func (c *Client) begin(s *session, e *sessionEvent) {
	last := e.Snapshot.HistoryCursor.LastMessageID
	start := func(messages []chatMessage) {
		c.logs++
		s.log = codec.NewLog(s.id, c.desk.Epoch+"x"+strconv.Itoa(c.logs))
		s.log.StartFrom(e.Snapshot.state())
		c.created(s, e, messages)
		c.recount(s, messages, last)
		s.last = new(e.Snapshot.last())
		c.current(s, e)
		subs := s.subs
		s.subs = nil
		for _, cmd := range subs {
			c.command(cmd)
		}
	}
	overHTTP := c.manners.tags[opHistory] == "" // tried in any case, to know whether the server tells
	if !overHTTP && (last == nil || c.manners.mute) {
		start(nil)
		return
	}
	p := &past{stream: s.stream}
	p.known = func(messages []chatMessage) {
		if c.sessions[s.id] != s || s.past != p {
			return
		}
		s.past = nil
		start(messages)
		for _, v := range p.values {
			c.sessionEvent(s, v)
		}
		if c.asked[p.stream] != nil {
			c.say(control{tagAck, p.stream})
		}
	}
	s.past = p
	if overHTTP {
		path := "/api/sessions/" + url.PathEscape(s.id) + "/messages"
		c.gets, c.getting[path] = append(c.gets, path), p
		return
	}
	c.ask(&inquiry{op: opHistory, payload: payload{SessionID: s.id}, then: func(v json.RawMessage, _ *protocol.Error) {
		messages, _ := chatMessages(v) // none when it cannot be told
		p.known(messages)
	}})
}

// Paths lists the paths that hold the history of sessions, by the document.
func (c *Client) Paths() []string {
	paths := c.gets
	c.gets = nil
	return paths
}

// PathRead takes what one of them holds; nil: it cannot be read.
func (c *Client) PathRead(now time.Time, path string, body []byte) codec.Output {
	return c.do(now, func() {
		p := c.getting[path]
		delete(c.getting, path)
		messages, told := chatMessages(body)
		if c.manners.told = told; p != nil {
			p.known(messages)
		}
	})
}

// created begins the log. When the session was created is not told: not after the first of what is known of it.
func (c *Client) created(s *session, e *sessionEvent, messages []chatMessage) {
	at := c.now
	known := []string{}
	if t := e.TurnContext; t != nil {
		known = append(known, t.StartedAt)
	}
	if len(messages) > 0 {
		known = append(known, messages[0].CreatedAt)
	}
	for _, k := range known {
		if t := stamped(k); !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	c.add(s, codec.Entry{Type: protocol.SessionCreated, Time: at, Data: protocol.SessionCreatedData{Agent: Name}})
}

// state is what a snapshot says of a session, but for the turn under way.
func (snap *snapshot) state() *protocol.State {
	st := &protocol.State{}
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
// new is told as events. Where turns ended meanwhile and the server tells its history, the connection begins anew: its next one
// loads what was missed.
func (c *Client) again(s *session, e *sessionEvent) {
	c.delay = 0
	if c.missed(s, e) && c.tells() {
		c.out.Close = &codec.Close{Code: protocol.CloseGoingAway, Reason: "turns ended while the stream was broken: beginning anew"}
		return
	}
	queue := e.Snapshot.state().Queue
	if string(protocol.MustEncode(queue)) != string(protocol.MustEncode(s.log.State.Queue)) {
		for len(s.log.State.Queue) > 0 {
			n := len(s.log.State.Queue)
			c.dequeued(s, s.log.State.Queue[0].MessageID)
			if len(s.log.State.Queue) == n {
				break
			}
		}
		for _, m := range queue {
			c.add(s, codec.Entry{Type: protocol.QueueAdded, Data: protocol.QueueAddedData{Message: m}})
		}
	}
	if s.goesOn(e) {
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

// tells reports whether the server tells its history.
func (c *Client) tells() bool {
	return c.manners.told || c.manners.tags[opHistory] != "" && !c.manners.mute
}

// goesOn reports whether a state has the turn under way that is known, and more of it.
func (s *session) goesOn(e *sessionEvent) bool {
	return s.turn != nil && e.Snapshot.ActiveTurnID != nil && *e.Snapshot.ActiveTurnID == s.turn.id && s.turn.continues(e.Buffer)
}

// missed reports whether turns ended that nobody told us of the end of.
func (c *Client) missed(s *session, e *sessionEvent) bool {
	if s.turn != nil {
		return !s.goesOn(e)
	}
	return s.last != nil && e.Snapshot.last() != *s.last
}

// last is the last message of finished turns; empty: none.
func (snap *snapshot) last() string {
	if id := snap.HistoryCursor.LastMessageID; id != nil {
		return *id
	}
	return ""
}
