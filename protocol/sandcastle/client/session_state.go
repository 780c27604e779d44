package client

import (
	"encoding/json"
	"net/url"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// A historyFetch holds a session's stream values while its finished turns are fetched. The server
// sends no more before the Ack.
type historyFetch struct {
	streamID string
	values   []json.RawMessage
	bytes    int
	done     func([]wire.ChatMessage)
}

// startLog starts a session's log from its first state, after fetching the finished turns.
func (c *Conn) startLog(s *session, e *wire.SessionEvent) {
	last := e.Snapshot.HistoryCursor.LastMessageID
	start := func(messages []wire.ChatMessage) {
		s.log = codec.NewLog(s.id, c.NextEpoch())
		s.log.StartFrom(e.Snapshot.NativeState())
		c.recordCreated(s, e, messages)
		s.stored = storedMessages(messages, e.TurnContext)
		c.recordHistory(s, messages, last)
		s.lastMessage = new(e.Snapshot.LastMessage())
		c.recordActiveTurn(s, e)
		waiting := s.waiting
		s.waiting = nil
		for i := range waiting {
			c.handleCommand(&waiting[i])
		}
	}
	// tried even without finished turns, to learn whether the endpoint exists
	overHTTP := c.capabilities.tags[wire.OpHistory] == ""
	unneeded := last == nil && len(c.capabilities.unanswered.sends) == 0
	if !overHTTP && (unneeded || c.capabilities.noHistory) {
		start(nil)
		return
	}
	p := &historyFetch{streamID: s.streamID}
	p.done = func(messages []wire.ChatMessage) {
		if c.sessions[s.id] != s || s.history != p {
			return
		}
		s.history = nil
		start(messages)
		for _, v := range p.values {
			c.handleSessionEvent(s, v)
		}
		if c.requests[p.streamID] != nil {
			c.send(wire.ControlMessage{Tag: wire.TagAck, RequestID: p.streamID})
		}
	}
	s.history = p
	if overHTTP {
		path := "/api/sessions/" + url.PathEscape(s.id) + "/messages"
		c.fetchPaths, c.fetches[path] = append(c.fetchPaths, path), p
		return
	}
	c.sendRequest(&request{
		op: wire.OpHistory, payload: wire.Payload{SessionID: s.id},
		done: func(v json.RawMessage, _ *protocol.Error) {
			messages, _ := wire.DecodeHistory(v) // nil if the server has none
			p.done(messages)
		},
	})
}

// Paths returns the paths of the session histories to fetch, as the protocol's document defines
// them.
func (c *Conn) Paths() []string {
	paths := c.fetchPaths
	c.fetchPaths = nil
	return paths
}

// PathRead handles the content of a path. body is nil if it could not be fetched.
func (c *Conn) PathRead(now time.Time, path string, body []byte) codec.Output {
	return c.run(now, func() {
		p := c.fetches[path]
		delete(c.fetches, path)
		messages, ok := wire.DecodeHistory(body)
		if c.capabilities.httpHistory = ok; p != nil {
			p.done(messages)
		}
	})
}

// recordCreated records the first event of the log. The protocol omits the creation time: use the
// earliest time known.
func (c *Conn) recordCreated(s *session, e *wire.SessionEvent, messages []wire.ChatMessage) {
	at := c.Now
	known := []string{}
	if t := e.TurnContext; t != nil {
		known = append(known, t.StartedAt)
	}
	if len(messages) > 0 {
		known = append(known, messages[0].CreatedAt)
	}
	for _, k := range known {
		if t := wire.ParseTime(k); !t.IsZero() && t.Before(at) {
			at = t
		}
	}
	c.record(s, codec.Entry{Type: protocol.SessionCreated, Time: at, Data: protocol.SessionCreatedData{Agent: wire.Name}})
}

// recordActiveTurn records the current turn.
func (c *Conn) recordActiveTurn(s *session, e *wire.SessionEvent) {
	id := e.Snapshot.ActiveTurnID
	if id == nil {
		return
	}
	start := wire.SessionEvent{TurnID: *id}
	if t := e.TurnContext; t != nil {
		start.StartedAt = t.StartedAt
		s.nextMessage = &wire.QueuedMessage{
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
func (c *Conn) resync(s *session, e *wire.SessionEvent) {
	c.reopenDelay = 0
	if c.missedTurns(s, e) && c.hasHistory() {
		c.Out.Close = &codec.Close{Code: protocol.CloseGoingAway, Reason: "turns ended while the stream was broken"}
		return
	}
	queue := e.Snapshot.NativeState().Queue
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
		c.endTurn(s, &wire.SessionEvent{TurnID: s.turn.id, Reason: wire.StopError}, nil)
	}
	c.recordActiveTurn(s, e)
}

// hasHistory reports whether the server has a history.
func (c *Conn) hasHistory() bool {
	return c.capabilities.httpHistory || c.capabilities.tags[wire.OpHistory] != "" && !c.capabilities.noHistory
}

// continuesTurn reports whether a state has the current turn with all known events.
func (s *session) continuesTurn(e *wire.SessionEvent) bool {
	return s.turn != nil && e.Snapshot.ActiveTurnID != nil && *e.Snapshot.ActiveTurnID == s.turn.id &&
		s.turn.continuedBy(e.Buffer)
}

// missedTurns reports whether turns ended unnoticed.
func (c *Conn) missedTurns(s *session, e *wire.SessionEvent) bool {
	if s.turn != nil {
		return !s.continuesTurn(e)
	}
	return s.lastMessage != nil && e.Snapshot.LastMessage() != *s.lastMessage
}
