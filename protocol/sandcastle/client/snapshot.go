package client

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// start begins the log from the first state. messages are the messages of finished turns.
func (s *session) start(e *wire.SessionEvent, messages []wire.ChatMessage) {
	s.log = codec.NewLog(s.id, s.x.NextEpoch())
	s.log.StartFrom(e.Snapshot.NativeState())
	s.record(codec.Entry{
		Type: protocol.SessionCreated, Time: earliestTime(s.x.Now, e, messages),
		Data: protocol.SessionCreatedData{Agent: wire.Name},
	})
	s.sends.stored = storedMessages(messages, e.TurnContext)
	s.recordHistory(messages, e.Snapshot.HistoryCursor.LastMessageID)
	s.lastMessage = new(e.Snapshot.LastMessage())
	s.recordActiveTurn(e)
}

// earliestTime returns the earliest time known of a session, at most now: the protocol omits its
// creation.
func earliestTime(now time.Time, e *wire.SessionEvent, messages []wire.ChatMessage) time.Time {
	known := []string{}
	if t := e.TurnContext; t != nil {
		known = append(known, t.StartedAt)
	}
	if len(messages) > 0 {
		known = append(known, messages[0].CreatedAt)
	}
	for _, k := range known {
		if t := wire.ParseTime(k); !t.IsZero() && t.Before(now) {
			now = t
		}
	}
	return now
}

// recordActiveTurn records the current turn of a state.
func (s *session) recordActiveTurn(e *wire.SessionEvent) {
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
	s.startTurn(&start)
	for _, raw := range e.Buffer {
		s.handleChat(raw)
	}
	for _, p := range e.PendingApprovals {
		s.record(s.turn.ask(s.x.Now, s.log.State, p.ToolCallID, p.ToolName)...)
	}
}

// resync handles a new state of the session, after a broken stream or a server restart. It records
// the difference as events. If turns ended in between and the server has a history, it closes the
// connection: the next one loads the missing turns.
func (s *session) resync(e *wire.SessionEvent) {
	if s.missedTurns(e) && s.x.capabilities.hasHistory() {
		s.x.Out.Close = &codec.Close{Code: protocol.CloseGoingAway, Reason: "turns ended while the stream was broken"}
		return
	}
	queue := e.Snapshot.NativeState().Queue
	if string(protocol.MustEncode(queue)) != string(protocol.MustEncode(s.log.State.Queue)) {
		for len(s.log.State.Queue) > 0 {
			n := len(s.log.State.Queue)
			s.recordDequeued(s.log.State.Queue[0].MessageID)
			if len(s.log.State.Queue) == n {
				break
			}
		}
		for _, m := range queue {
			s.record(codec.Entry{Type: protocol.QueueAdded, Data: protocol.QueueAddedData{Message: m}})
		}
	}
	if s.continuesTurn(e) {
		for _, raw := range e.Buffer[s.turn.buffered:] {
			s.handleChat(raw)
		}
		return
	}
	s.loseTurn("the server did not report the end of the turn")
	s.recordActiveTurn(e)
}

// continuesTurn reports whether a state has the current turn with all known events.
func (s *session) continuesTurn(e *wire.SessionEvent) bool {
	return s.turn != nil && e.Snapshot.ActiveTurnID != nil && *e.Snapshot.ActiveTurnID == s.turn.id &&
		s.turn.continuedBy(e.Buffer)
}

// missedTurns reports whether turns ended unnoticed.
func (s *session) missedTurns(e *wire.SessionEvent) bool {
	if s.turn != nil {
		return !s.continuesTurn(e)
	}
	return s.lastMessage != nil && e.Snapshot.LastMessage() != *s.lastMessage
}
