package sandcastle

import (
	"encoding/json"
	"hash/fnv"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A turn is the one under way in a session that our client follows.
type clientTurn struct {
	id              string
	answer          *string // its message, as their history names it; nil: not known
	tools           map[string]*clientTool
	bytes           int             // of outputs
	nativeApprovals map[string]bool // approvals that came with all their words, and whose end will
	approvalTools   map[string]bool // tool calls that stand for such approvals
	lastError       *string         // an error that may be the turn's end
	finish          string
	usage           *protocol.Usage
	nativeEnd       *protocol.TurnEndedData // as a server of ours says it
	interrupts      []pendingInterrupt

	buffered   int // events that the server's buffer holds
	bufferHash uint64
}

// A toolCall is one of the turn's.
type clientTool struct {
	name, title string
	input       json.RawMessage
	parent      string
	text        string // of the output so far
	structured  bool   // the output so far is more than a text
	lastHash    uint64 // sum of the output that came last
}

// parked is an answer that waits for the end of the turn.
type pendingInterrupt struct {
	cmd    protocol.Command
	result protocol.InterruptResult
}

func hashNext(seed uint64, raw []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24), byte(seed >> 32), byte(seed >> 40), byte(seed >> 48), byte(seed >> 56)})
	_, _ = h.Write(raw)
	return h.Sum64()
}

// continues reports whether a buffer begins with all that is known of the turn.
func (t *clientTurn) continuedBy(buffer []json.RawMessage) bool {
	if len(buffer) < t.buffered {
		return false
	}
	var s uint64
	for _, raw := range buffer[:t.buffered] {
		s = hashNext(s, raw)
	}
	return s == t.bufferHash
}

// started begins a turn.
func (c *clientCodec) startTurn(s *session, e *sessionEvent) {
	if s.turn != nil {
		lost := "the server began another turn"
		s.turn.lastError = &lost
		c.endTurn(s, &sessionEvent{TurnID: s.turn.id, Reason: stopError}, nil)
	}
	at := parseTime(e.StartedAt)
	if s.nextMessage != nil && e.MessageID != "" && s.nextMessage.ID != e.MessageID {
		c.recordUnstarted(s)
	}
	user := s.nextMessage
	s.nextMessage = nil
	if user == nil {
		user = &queuedMessage{ID: e.MessageID}
	}
	m := user.message()
	if m.MessageID == "" {
		m.MessageID = e.TurnID
	}
	c.record(s, codec.Entry{Type: protocol.MessageUser, Turn: e.TurnID, Time: at, Data: protocol.MessageUserData{Message: m}})
	if s.log.State.Turn == nil || s.log.State.Turn.Turn != e.TurnID { // too large to be kept
		m.Text, m.Parts = protocol.SplitText(m.Text, protocol.MaxText)[0], nil
		c.record(s, codec.Entry{Type: protocol.MessageUser, Turn: e.TurnID, Time: at, Data: protocol.MessageUserData{Message: m}})
	}
	s.turn = &clientTurn{id: e.TurnID, tools: map[string]*clientTool{}, nativeApprovals: map[string]bool{}, approvalTools: map[string]bool{}}
	s.recordStartedSend()
	c.record(s, codec.Entry{Type: protocol.TurnStarted, Turn: e.TurnID, Time: at, Data: protocol.TurnStartedData{MessageID: m.MessageID}})
}

// stopped ends the turn.
func (c *clientCodec) endTurn(s *session, e *sessionEvent, raw json.RawMessage) {
	t := s.turn
	if t == nil || t.id != e.TurnID {
		if raw != nil {
			c.recordRaw(s, s.turnID(), sessionStopped, raw)
		}
		return
	}
	end := protocol.TurnEndedData{Reason: reasonOf(e.Reason, t.finish), Usage: t.usage}
	if st := s.log.State.Turn; st != nil {
		end.DurationMS = max(0, c.now.Sub(st.Started).Milliseconds())
	}
	if t.lastError != nil {
		end.Message = *t.lastError
	}
	if end.Reason == protocol.ReasonError {
		end.Code = protocol.CodeAgentFailed
	}
	if t.nativeEnd != nil && stopReason(t.nativeEnd.Reason) == e.Reason {
		end = *t.nativeEnd
	}
	for len(s.log.State.Approvals) > 0 {
		n := len(s.log.State.Approvals)
		c.recordResolution(s, protocol.ApprovalResolvedData{Request: s.log.State.Approvals[0].Request, Outcome: protocol.Cancelled}, nil)
		if len(s.log.State.Approvals) == n {
			break
		}
	}
	c.record(s, codec.Entry{Type: protocol.TurnEnded, Turn: t.id, Data: end})
	s.turn, s.lastMessage = nil, t.answer
	c.answerInterrupts(t)
}

// release answers the interrupts that waited for the turn's end.
func (c *clientCodec) answerInterrupts(t *clientTurn) {
	for _, p := range t.interrupts {
		c.responder.Answer(c.out, &p.cmd, p.result)
	}
	t.interrupts = nil
}

// resolve ends an approval, once.
func (c *clientCodec) recordResolution(s *session, d protocol.ApprovalResolvedData, by *protocol.Actor) {
	a := s.log.State.Pending(d.Request)
	if a == nil {
		return
	}
	c.record(s, codec.Entry{Type: protocol.ApprovalResolved, Turn: a.Turn, Task: a.Task, By: by, Data: d})
	s.addWinner(d, by)
}

// remember keeps who decided, for who comes later.
func (s *session) addWinner(d protocol.ApprovalResolvedData, by *protocol.Actor) {
	w := protocol.Winner{Outcome: d.Outcome, Decision: d.Decision, Option: d.Option}
	if by != nil {
		w.By = *by
	}
	if _, known := s.winners[d.Request]; !known {
		s.winnerOrder = append(s.winnerOrder, d.Request)
	}
	s.winners[d.Request] = w
	if len(s.winnerOrder) > maxWinners {
		delete(s.winners, s.winnerOrder[0])
		s.winnerOrder = s.winnerOrder[1:]
	}
}

// decidedBy says why a request cannot be decided any more.
func (s *session) decidedError(request string) *protocol.Error {
	w, known := s.winners[request]
	if !known {
		return protocol.Errorf(protocol.CodeNotFound, "nothing waits for a decision under that name")
	}
	who := w.By.Name
	if who == "" {
		who = "somebody"
	}
	e := protocol.Errorf(protocol.CodeConflict, "%s has already decided", who)
	e.Winner = &w
	return e
}
