package client

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// A session is a session that the client follows.
type session struct {
	id       string
	log      *codec.Log         // nil before the first InitialState
	streamID string             // request id of its stream; empty: broken
	waiting  []protocol.Command // commands that wait for the log
	history  *historyFetch      // nil: no fetch is under way

	nextMessage *wire.QueuedMessage // whose turn is about to start
	turn        *turn
	// last message of the finished turns; empty: none; nil: unknown
	lastMessage  *string
	lastUser     string        // the newest message of a turn; empty: none
	startedSends []startedSend // oldest first
	stored       []storedMessage
	decisions    codec.Decisions
}

// handleSubscribe subscribes to a session.
func (c *Conn) handleSubscribe(cmd *protocol.Command) {
	if s := c.requireSession(cmd); s != nil {
		c.Subscribe(cmd, s.log)
	}
}

// requireSession returns the session of a command. If its state is unknown, it opens the stream,
// defers the command until the state arrives, and returns nil. The stream is the only source of the
// full state.
func (c *Conn) requireSession(cmd *protocol.Command) *session {
	s := c.sessions[cmd.Session]
	switch {
	case s != nil && s.log != nil:
		return s
	case s == nil && len(c.sessions) >= wire.MaxSubscriptions:
		c.Failf(cmd, protocol.CodeTooMany, "too many sessions followed")
	case s == nil:
		s = &session{id: cmd.Session, waiting: []protocol.Command{*cmd}}
		c.sessions[s.id] = s
		c.openStream(s)
	default:
		c.Hold(&s.waiting, wire.MaxRequests, cmd)
	}
	return nil
}

// openStream requests a session's stream.
func (c *Conn) openStream(s *session) {
	s.streamID = "?" // requested
	c.sendRequest(&request{
		op: wire.OpSubscribe, payload: wire.Payload{SessionID: s.id}, session: s,
		done: func(_ json.RawMessage, err *protocol.Error) {
			if c.sessions[s.id] != s {
				return
			}
			s.streamID = ""
			switch {
			case s.log == nil:
				if err == nil {
					err = protocol.Errorf(protocol.CodeInternal, "the server ended the stream before its first state")
				}
				delete(c.sessions, s.id)
				for _, cmd := range s.waiting {
					c.Fail(&cmd, err)
				}
			case err != nil && err.Code == protocol.CodeNoSession && !s.log.State.Closed:
				c.recordClosed(s)
			case !s.log.State.Closed:
				c.scheduleReopen()
			}
		},
	})
}

// unfollow stops following a session.
func (c *Conn) unfollow(s *session) {
	delete(c.sessions, s.id)
	if req := c.requests[s.streamID]; req != nil && req.session == s {
		delete(c.requests, s.streamID)
		c.send(wire.ControlMessage{Tag: wire.TagInterrupt, RequestID: s.streamID})
	}
	c.deferred = slices.DeleteFunc(c.deferred, func(req *request) bool { return req.session == s })
	for _, cmd := range s.waiting {
		c.Failf(&cmd, protocol.CodeNotSubscribed, "unsubscribed")
	}
	if s.turn != nil {
		c.answerInterrupts(s.turn)
	}
}

// orderedSessions lists the sessions in a stable order.
func (c *Conn) orderedSessions() []*session {
	list := make([]*session, 0, len(c.sessions))
	for _, id := range slices.Sorted(maps.Keys(c.sessions)) {
		list = append(list, c.sessions[id])
	}
	return list
}

// record records an event of a session. An event that is too large, or that would exceed a bound of
// the state, becomes a raw event without content.
func (c *Conn) record(s *session, en codec.Entry) {
	data, err := protocol.Encode(en.Data)
	if err == nil && (len(data) > protocol.MaxEvent-1024 || s.log.Full(en.Type, wire.MaxOpen)) {
		en = codec.Entry{Type: protocol.Raw, Turn: en.Turn, Data: protocol.RawData{
			Source: wire.Name, Method: string(en.Type), Bytes: int64(len(data)),
		}}
	}
	c.Record(s.log, en)
}

// recordRaw records a message without a native equivalent.
func (c *Conn) recordRaw(s *session, turn, method string, data json.RawMessage) {
	c.RecordRaw(s.log, turn, method, data)
}

// maxApprovals bounds the pending approvals of a session.
const maxApprovals = 256

// errTooDeep rejects a message whose parts would nest too deep in an event.
var errTooDeep = errors.New("nested too deep")

// handleSessionEvent handles a value of a session's stream.
func (c *Conn) handleSessionEvent(s *session, raw json.RawMessage) {
	if s.history != nil {
		s.history.values = append(s.history.values, raw)
		// the server does not wait for the Ack
		if s.history.bytes += len(raw); s.history.bytes > maxLine {
			s.history.done(nil)
		}
		return
	}
	var e wire.SessionEvent
	err := json.Unmarshal(raw, &e)
	if err == nil && !codec.Shallow(raw) {
		err = errTooDeep
	}
	if s.log == nil {
		if err == nil && e.Tag == wire.InitialState && e.Snapshot != nil {
			c.startLog(s, &e)
		}
		return // no log exists before the state is known
	}
	turn := s.turnID()
	switch {
	case err != nil:
		c.recordRaw(s, turn, codec.Excerpt(e.Tag), raw)
	case e.Tag == wire.InitialState && e.Snapshot != nil:
		c.resync(s, &e)
	case e.Tag == wire.UserMessage && e.Message != nil:
		c.recordUnstarted(s)
		s.nextMessage = e.Message
	case e.Tag == wire.SessionStarted && e.TurnID != "" && e.TurnID == turn: // the state had it already
	case e.Tag == wire.SessionStarted && e.TurnID != "":
		c.startTurn(s, &e)
	case e.Tag == wire.SessionStopped:
		c.endTurn(s, &e, raw)
	case e.Tag == wire.StreamEvent && s.turn != nil && e.TurnID == s.turn.id:
		c.handleChat(s, e.Event)
	case e.Tag == wire.StreamEvent:
		c.handleSessionChat(s, turn, e.Event, raw)
	case e.Tag == wire.MessageQueued && e.Message != nil:
		c.record(s, codec.Entry{Type: protocol.QueueAdded, Data: protocol.QueueAddedData{Message: e.Message.Message()}})
	case e.Tag == wire.MessageDequeued:
		c.recordDequeued(s, e.MessageID)
	case e.Tag == wire.SessionDeleted:
		c.recordClosed(s)
	default:
		c.recordRaw(s, turn, codec.Excerpt(e.Tag), raw)
	}
}

func (c *Conn) recordDequeued(s *session, id string) {
	reason := protocol.RemovedUser
	if s.turn == nil {
		reason = protocol.RemovedStarted // between turns a message leaves the queue to start
	}
	c.record(s, codec.Entry{
		Type: protocol.QueueRemoved, Data: protocol.QueueRemovedData{MessageID: id, Reason: reason},
	})
}

// recordClosed records the end of a deleted session.
func (c *Conn) recordClosed(s *session) {
	if !s.log.State.Closed {
		c.endTurn(s, &wire.SessionEvent{TurnID: s.turnID(), Reason: wire.StopError}, nil)
		c.record(s, codec.Entry{Type: protocol.SessionClosed, Data: protocol.SessionClosedData{Reason: "deleted"}})
	}
}

// recordUnstarted records a user message whose turn never started.
func (c *Conn) recordUnstarted(s *session) {
	if s.nextMessage != nil {
		c.recordRaw(s, "", wire.UserMessage, protocol.MustEncode(s.nextMessage))
		s.nextMessage = nil
	}
}

func (s *session) turnID() string {
	if s.turn == nil {
		return ""
	}
	return s.turn.id
}
