package sandcastle

import (
	"encoding/json"
	"net/url"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A historyFetch holds a session's stream values while its finished turns are fetched. The server
// sends no more before the Ack.
type historyFetch struct {
	streamID string
	values   []json.RawMessage
	bytes    int
	done     func([]chatMessage)
}

// startLog starts a session's log from its first state, after fetching the finished turns.
func (c *client) startLog(s *session, e *sessionEvent) {
	last := e.Snapshot.HistoryCursor.LastMessageID
	start := func(messages []chatMessage) {
		s.log = codec.NewLog(s.id, c.NextEpoch())
		s.log.StartFrom(e.Snapshot.nativeState())
		c.recordCreated(s, e, messages)
		s.stored = storedMessages(messages, e.TurnContext)
		c.recordHistory(s, messages, last)
		s.lastMessage = new(e.Snapshot.lastMessage())
		c.recordActiveTurn(s, e)
		waiting := s.waiting
		s.waiting = nil
		for i := range waiting {
			c.handleCommand(&waiting[i])
		}
	}
	// tried even without finished turns, to learn whether the endpoint exists
	overHTTP := c.capabilities.tags[opHistory] == ""
	unneeded := last == nil && len(c.capabilities.unanswered.sends) == 0
	if !overHTTP && (unneeded || c.capabilities.noHistory) {
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
	c.sendRequest(&request{
		op: opHistory, payload: payload{SessionID: s.id},
		done: func(v json.RawMessage, _ *protocol.Error) {
			messages, _ := decodeHistory(v) // nil if the server has none
			p.done(messages)
		},
	})
}

// Paths returns the paths of the session histories to fetch, as the protocol's document defines
// them.
func (c *client) Paths() []string {
	paths := c.fetchPaths
	c.fetchPaths = nil
	return paths
}

// PathRead handles the content of a path. body is nil if it could not be fetched.
func (c *client) PathRead(now time.Time, path string, body []byte) codec.Output {
	return c.run(now, func() {
		p := c.fetches[path]
		delete(c.fetches, path)
		messages, ok := decodeHistory(body)
		if c.capabilities.httpHistory = ok; p != nil {
			p.done(messages)
		}
	})
}

// recordCreated records the first event of the log. The protocol omits the creation time: use the
// earliest time known.
func (c *client) recordCreated(s *session, e *sessionEvent, messages []chatMessage) {
	at := c.Now
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

// nativeState returns the state of a snapshot, without the current turn.
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

// recordActiveTurn records the current turn.
func (c *client) recordActiveTurn(s *session, e *sessionEvent) {
	id := e.Snapshot.ActiveTurnID
	if id == nil {
		return
	}
	start := sessionEvent{TurnID: *id}
	if t := e.TurnContext; t != nil {
		start.StartedAt = t.StartedAt
		s.nextMessage = &queuedMessage{
			ID: t.MessageID, Content: t.Content, Parts: t.Parts, ClientMessageID: t.ClientMessageID,
		}
	}
	c.startTurn(s, &start)
	for _, raw := range e.Buffer {
		c.handleChat(s, raw)
	}
	for _, p := range e.PendingApprovals {
		c.recordPending(s, p.ToolCallID, p.ToolName)
	}
}

// resync handles a new state of a known session, after a broken stream or a server restart. It
// records the difference as events. If turns ended in between and the server has a history, it
// closes the connection: the next one loads the missing turns.
func (c *client) resync(s *session, e *sessionEvent) {
	c.reopenDelay = 0
	if c.missedTurns(s, e) && c.hasHistory() {
		c.Out.Close = &codec.Close{Code: protocol.CloseGoingAway, Reason: "turns ended while the stream was broken"}
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
		lost := "the server did not report the end of the turn"
		s.turn.lastError = &lost
		c.endTurn(s, &sessionEvent{TurnID: s.turn.id, Reason: stopError}, nil)
	}
	c.recordActiveTurn(s, e)
}

// hasHistory reports whether the server has a history.
func (c *client) hasHistory() bool {
	return c.capabilities.httpHistory || c.capabilities.tags[opHistory] != "" && !c.capabilities.noHistory
}

// continuesTurn reports whether a state has the current turn with all known events.
func (s *session) continuesTurn(e *sessionEvent) bool {
	return s.turn != nil && e.Snapshot.ActiveTurnID != nil && *e.Snapshot.ActiveTurnID == s.turn.id &&
		s.turn.continuedBy(e.Buffer)
}

// missedTurns reports whether turns ended unnoticed.
func (c *client) missedTurns(s *session, e *sessionEvent) bool {
	if s.turn != nil {
		return !s.continuesTurn(e)
	}
	return s.lastMessage != nil && e.Snapshot.lastMessage() != *s.lastMessage
}

// lastMessage returns the last message of the finished turns, or "".
func (snap *snapshot) lastMessage() string {
	if id := snap.HistoryCursor.LastMessageID; id != nil {
		return *id
	}
	return ""
}
