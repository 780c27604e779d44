package client

import (
	"encoding/json"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// A session is a session that the client follows. It records the values of its stream.
type session struct {
	id      string
	x       *exchange
	stream  *request           // nil: broken
	log     *codec.Log         // nil before the first InitialState
	waiting []protocol.Command // commands that wait for the log
	history *historyFetch      // nil: no fetch is in flight

	nextMessage *wire.QueuedMessage // whose turn is about to start
	turn        *turn               // nil: none
	lastMessage *string             // last message of the finished turns; empty: none; nil: unknown
	interrupts  []pendingInterrupt  // wait for the end of the turn
	sends       sends
	decisions   codec.Decisions
}

// A pendingInterrupt is an answer that awaits the end of the turn.
type pendingInterrupt struct {
	cmd    *protocol.Command
	result protocol.InterruptResult
}

// failWaiting fails the commands that wait for the log.
func (s *session) failWaiting(err *protocol.Error) {
	for i := range s.waiting {
		s.x.Fail(&s.waiting[i], err)
	}
}

// record records events, in order. An event that is too large, or that would exceed a bound of the
// state, becomes a raw event without content. The end of an approval is recorded once.
func (s *session) record(events ...codec.Entry) {
	for _, en := range events {
		d, isResolution := en.Data.(protocol.ApprovalResolvedData)
		if isResolution && s.log.State.PendingApproval(d.Request) == nil {
			continue
		}
		data, err := protocol.Encode(en.Data)
		if err == nil && (len(data) > protocol.MaxEvent-1024 || s.log.Full(en.Type, wire.MaxOpen)) {
			en = codec.Entry{Type: protocol.Raw, Turn: en.Turn, Data: protocol.RawData{
				Source: wire.Name, Method: string(en.Type), Bytes: int64(len(data)),
			}}
		}
		s.x.Record(s.log, en)
		if isResolution {
			s.decisions.Put(en.By, d)
		}
	}
}

// rawEntry returns the event of a message without a native equivalent.
func rawEntry(turn, method string, message []byte) codec.Entry {
	return codec.RawEntry(wire.Name, turn, method, message)
}

// handleEvent handles an event of the stream other than InitialState. raw is the encoding of e.
func (s *session) handleEvent(e *wire.SessionEvent, raw json.RawMessage) {
	turn := s.turnID()
	switch {
	case e.Tag == wire.UserMessage && e.Message != nil:
		s.recordUnstarted()
		s.nextMessage = e.Message
	case e.Tag == wire.SessionStarted && e.TurnID != "" && e.TurnID == turn: // the state had it already
	case e.Tag == wire.SessionStarted && e.TurnID != "":
		s.startTurn(e)
	case e.Tag == wire.SessionStopped && s.turn != nil && e.TurnID == turn:
		s.endTurn(e.Reason)
	case e.Tag == wire.StreamEvent && s.turn != nil && e.TurnID == turn:
		s.handleChat(e.Event)
	case e.Tag == wire.StreamEvent:
		s.record(decodeSessionChat(s.log.State, turn, e.Event, raw)...)
	case e.Tag == wire.MessageQueued && e.Message != nil:
		s.record(codec.Entry{Type: protocol.QueueAdded, Data: protocol.QueueAddedData{Message: e.Message.Message()}})
	case e.Tag == wire.MessageDequeued:
		s.recordDequeued(e.MessageID)
	case e.Tag == wire.SessionDeleted:
		s.recordClosed()
	default:
		s.record(rawEntry(turn, codec.Excerpt(e.Tag), raw))
	}
}

// handleChat handles a chat event of the current turn.
func (s *session) handleChat(raw json.RawMessage) {
	s.record(s.turn.decode(s.x.Now, s.log.State, raw)...)
}

func (s *session) recordDequeued(id string) {
	reason := protocol.RemovedUser
	if s.log.State.Turn.Has(id) {
		reason = protocol.RemovedSteered
	} else if s.turn == nil {
		reason = protocol.RemovedStarted // between turns a message leaves the queue to start
	}
	s.record(codec.Entry{
		Type: protocol.QueueRemoved, Data: protocol.QueueRemovedData{MessageID: id, Reason: reason},
	})
}

// recordClosed records the end of a deleted session.
func (s *session) recordClosed() {
	if !s.log.State.Closed {
		s.endTurn(wire.StopError)
		s.record(codec.Entry{Type: protocol.SessionClosed, Data: protocol.SessionClosedData{Reason: "deleted"}})
	}
}

// recordUnstarted records a user message whose turn never started.
func (s *session) recordUnstarted() {
	if s.nextMessage != nil {
		s.record(rawEntry("", wire.UserMessage, protocol.MustEncode(s.nextMessage)))
		s.nextMessage = nil
	}
}

// turnID returns the id of the current turn; empty: none.
func (s *session) turnID() string {
	if s.turn == nil {
		return ""
	}
	return s.turn.id
}

// startTurn starts a turn. It ends a current one, whose end the server did not report.
func (s *session) startTurn(e *wire.SessionEvent) {
	s.loseTurn("the server started another turn")
	at := wire.ParseTime(e.StartedAt)
	if s.nextMessage != nil && e.MessageID != "" && s.nextMessage.ID != e.MessageID {
		s.recordUnstarted()
	}
	user := s.nextMessage
	s.nextMessage = nil
	if user == nil {
		user = &wire.QueuedMessage{ID: e.MessageID}
	}
	m := user.Message()
	if m.MessageID == "" {
		m.MessageID = e.TurnID
	}
	asked := codec.Entry{
		Type: protocol.MessageUser, Turn: e.TurnID, Time: at, Data: protocol.MessageUserData{Message: m},
	}
	s.record(asked)
	if st := s.log.State.Turn; st == nil || st.Turn != e.TurnID { // too large for an event
		m.Text, m.Parts = protocol.SplitText(m.Text, protocol.MaxText)[0], nil
		asked.Data = protocol.MessageUserData{Message: m}
		s.record(asked)
	}
	s.turn = newTurn(e.TurnID, s.x.Options.PeerIsAgentctl, &s.decisions)
	s.sends.noteStarted(s.log.State)
	s.record(codec.Entry{
		Type: protocol.TurnStarted, Turn: e.TurnID, Time: at, Data: protocol.TurnStartedData{MessageID: m.MessageID},
	})
}

// loseTurn ends the current turn, if any, with an error.
func (s *session) loseTurn(why string) {
	if s.turn != nil {
		s.turn.lastError = &why
		s.endTurn(wire.StopError)
	}
}

// endTurn ends the current turn, if any, for a reason of the protocol.
func (s *session) endTurn(reason string) {
	t := s.turn
	if t == nil {
		return
	}
	end := t.end(s.x.Now, s.log.State, reason)
	for len(s.log.State.Approvals) > 0 {
		n := len(s.log.State.Approvals)
		s.record(resolve(s.log.State, nil, protocol.ApprovalResolvedData{
			Request: s.log.State.Approvals[0].Request, Outcome: protocol.Cancelled,
		})...)
		if len(s.log.State.Approvals) == n {
			break
		}
	}
	s.record(codec.Entry{Type: protocol.TurnEnded, Turn: t.id, Data: end})
	s.turn, s.lastMessage = nil, t.answer
	s.answerInterrupts()
}

// answerInterrupts answers the interrupts that await the turn's end.
func (s *session) answerInterrupts() {
	for _, p := range s.interrupts {
		s.x.Answer(p.cmd, p.result)
	}
	s.interrupts = nil
}
