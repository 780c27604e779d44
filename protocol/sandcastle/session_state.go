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
type historyFetch struct {
	streamID string
	values   []json.RawMessage
	bytes    int
	done     func([]chatMessage)
}

// begin makes the log of a session's first state, when its past is known.
func (c *clientCodec) startLog(s *session, e *sessionEvent) {
	last := e.Snapshot.HistoryCursor.LastMessageID
	start := func(messages []chatMessage) {
		c.logCount++
		s.log = codec.NewLog(s.id, c.responder.Epoch+"x"+strconv.Itoa(c.logCount))
		s.log.Begin(e.Snapshot.nativeState())
		c.recordCreated(s, e, messages)
		c.recordHistory(s, messages, last)
		s.lastMessage = new(e.Snapshot.lastMessage())
		c.recordActiveTurn(s, e)
		subs := s.waiting
		s.waiting = nil
		for _, cmd := range subs {
			c.handleCommand(cmd)
		}
	}
	overHTTP := c.capabilities.tags[opHistory] == "" // tried in any case, to know whether the server tells
	if !overHTTP && (last == nil || c.capabilities.noHistory) {
		start(nil)
		return
	}
	p := &historyFetch{streamID: s.streamID}
	p.done = func(messages []chatMessage) {
		if c.sessions[s.id] != s || s.history != p {
			return
		}
		s.history = nil
		start(messages)
		for _, v := range p.values {
			c.handleSessionEvent(s, v)
		}
		if c.requests[p.streamID] != nil {
			c.send(controlMessage{tagAck, p.streamID})
		}
	}
	s.history = p
	if overHTTP {
		path := "/api/sessions/" + url.PathEscape(s.id) + "/messages"
		c.fetchPaths, c.fetches[path] = append(c.fetchPaths, path), p
		return
	}
	c.sendRequest(&request{op: opHistory, payload: payload{SessionID: s.id}, done: func(v json.RawMessage, _ *protocol.Error) {
		messages, _ := decodeHistory(v) // none when it cannot be told
		p.done(messages)
	}})
}

// Gets lists the paths that hold the history of sessions, by the document.
func (c *clientCodec) Gets() []string {
	paths := c.fetchPaths
	c.fetchPaths = nil
	return paths
}

// Got takes what one of them holds; nil: it cannot be read.
func (c *clientCodec) Got(now time.Time, path string, body []byte) codec.Output {
	return c.run(now, func() {
		p := c.fetches[path]
		delete(c.fetches, path)
		messages, told := decodeHistory(body)
		if c.capabilities.httpHistory = told; p != nil {
			p.done(messages)
		}
	})
}

// created begins the log. When the session was created is not told: not after the first of what is known of it.
func (c *clientCodec) recordCreated(s *session, e *sessionEvent, messages []chatMessage) {
	at := c.now
	known := []string{}
	if t := e.TurnContext; t != nil {
		known = append(known, t.StartedAt)
	}
	if len(messages) > 0 {
		known = append(known, messages[0].CreatedAt)
	}
	for _, k := range known {
		if t := parseTime(k); !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	c.record(s, codec.Entry{Type: protocol.SessionCreated, Time: at, Data: protocol.SessionCreatedData{Agent: Name}})
}

// state is what a snapshot says of a session, but for the turn under way.
func (snap *snapshot) nativeState() *protocol.State {
	st := &protocol.State{}
	for i := range snap.Queue {
		st.Queue = append(st.Queue, snap.Queue[i].message())
	}
	if last := snap.HistoryCursor.LastMessageID; last != nil {
		st.History.LastMessageID = *last
	}
	if at := snap.HistoryCursor.LastMessageAt; at != nil && !parseTime(*at).IsZero() {
		t := parseTime(*at)
		st.History.LastMessageAt = &t
	}
	return st
}

// current adds the turn under way.
func (c *clientCodec) recordActiveTurn(s *session, e *sessionEvent) {
	id := e.Snapshot.ActiveTurnID
	if id == nil {
		return
	}
	start := sessionEvent{TurnID: *id}
	if t := e.TurnContext; t != nil {
		start.StartedAt = t.StartedAt
		s.nextMessage = &queuedMessage{ID: t.MessageID, Content: t.Content, Parts: t.Parts, ClientMessageID: t.ClientMessageID}
	}
	c.startTurn(s, &start)
	for _, raw := range e.Buffer {
		c.handleChat(s, raw)
	}
	for _, p := range e.PendingApprovals {
		c.recordPending(s, p.ToolCallID, p.ToolName)
	}
}

// again takes the state of a session that is known: its stream broke off and was opened again, or the server began anew. What is
// new is told as events. Where turns ended meanwhile and the server tells its history, the connection begins anew: its next one
// loads what was missed.
func (c *clientCodec) resync(s *session, e *sessionEvent) {
	c.reopenDelay = 0
	if c.missedTurns(s, e) && c.hasHistory() {
		c.out.Close = &codec.Close{Code: protocol.CloseGoingAway, Reason: "turns ended while the stream was broken: beginning anew"}
		return
	}
	queue := e.Snapshot.nativeState().Queue
	if string(protocol.MustEncode(queue)) != string(protocol.MustEncode(s.log.State.Queue)) {
		for len(s.log.State.Queue) > 0 {
			n := len(s.log.State.Queue)
			c.recordDequeued(s, s.log.State.Queue[0].MessageID)
			if len(s.log.State.Queue) == n {
				break
			}
		}
		for _, m := range queue {
			c.record(s, codec.Entry{Type: protocol.QueueAdded, Data: protocol.QueueAddedData{Message: m}})
		}
	}
	if s.continuesTurn(e) {
		for _, raw := range e.Buffer[s.turn.buffered:] {
			c.handleChat(s, raw)
		}
		return
	}
	if s.turn != nil {
		lost := "the server does not tell how the turn ended"
		s.turn.lastError = &lost
		c.endTurn(s, &sessionEvent{TurnID: s.turn.id, Reason: stopError}, nil)
	}
	c.recordActiveTurn(s, e)
}

// tells reports whether the server tells its history.
func (c *clientCodec) hasHistory() bool {
	return c.capabilities.httpHistory || c.capabilities.tags[opHistory] != "" && !c.capabilities.noHistory
}

// goesOn reports whether a state has the turn under way that is known, and more of it.
func (s *session) continuesTurn(e *sessionEvent) bool {
	return s.turn != nil && e.Snapshot.ActiveTurnID != nil && *e.Snapshot.ActiveTurnID == s.turn.id && s.turn.continuedBy(e.Buffer)
}

// missed reports whether turns ended that nobody told us of the end of.
func (c *clientCodec) missedTurns(s *session, e *sessionEvent) bool {
	if s.turn != nil {
		return !s.continuesTurn(e)
	}
	return s.lastMessage != nil && e.Snapshot.lastMessage() != *s.lastMessage
}

// last is the last message of finished turns; empty: none.
func (snap *snapshot) lastMessage() string {
	if id := snap.HistoryCursor.LastMessageID; id != nil {
		return *id
	}
	return ""
}
