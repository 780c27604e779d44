package sandcastle

import (
	"encoding/json"
	"hash/fnv"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A turn is the one under way in a session that our client follows.
type turn struct {
	id         string
	answer     *string // its message, as their history names it; nil: not known
	tools      map[string]*toolCall
	bytes      int             // of outputs
	whole      map[string]bool // approvals that came with all their words, and whose end will
	shadows    map[string]bool // tool calls that stand for such approvals
	fault      *string         // an error that may be the turn's end
	finish     string
	usage      *protocol.Usage
	end        *protocol.TurnEndedData // as a server of ours says it
	interrupts []parked

	buffered int // events that the server's buffer holds
	sum      uint64
}

// A toolCall is one of the turn's.
type toolCall struct {
	name, title string
	input       json.RawMessage
	parent      string
	text        string // of the output so far
	content     bool   // the output so far is more than a text
	last        uint64 // sum of the output that came last
}

// parked is an answer that waits for the end of the turn.
type parked struct {
	cmd    protocol.Command
	result protocol.InterruptResult
}

func sum(seed uint64, raw []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24), byte(seed >> 32), byte(seed >> 40), byte(seed >> 48), byte(seed >> 56)})
	_, _ = h.Write(raw)
	return h.Sum64()
}

// continues reports whether a buffer begins with all that is known of the turn.
func (t *turn) continues(buffer []json.RawMessage) bool {
	if len(buffer) < t.buffered {
		return false
	}
	var s uint64
	for _, raw := range buffer[:t.buffered] {
		s = sum(s, raw)
	}
	return s == t.sum
}

// started begins a turn.
func (c *Client) started(s *session, e *sessionEvent) {
	if s.turn != nil {
		lost := "the server began another turn"
		s.turn.fault = &lost
		c.stopped(s, &sessionEvent{TurnID: s.turn.id, Reason: stopError}, nil)
	}
	at := stamped(e.StartedAt)
	if s.user != nil && e.MessageID != "" && s.user.ID != e.MessageID {
		c.forget(s)
	}
	user := s.user
	s.user = nil
	if user == nil {
		user = &queued{ID: e.MessageID}
	}
	m := user.message()
	if m.MessageID == "" {
		m.MessageID = e.TurnID
	}
	c.add(s, codec.Entry{Type: protocol.MessageUser, Turn: e.TurnID, Time: at, Data: protocol.MessageUserData{Message: m}})
	if s.log.State.Turn == nil || s.log.State.Turn.Turn != e.TurnID { // too large to be kept
		m.Text, m.Parts = protocol.SplitText(m.Text, protocol.MaxText)[0], nil
		c.add(s, codec.Entry{Type: protocol.MessageUser, Turn: e.TurnID, Time: at, Data: protocol.MessageUserData{Message: m}})
	}
	s.turn = &turn{id: e.TurnID, tools: map[string]*toolCall{}, whole: map[string]bool{}, shadows: map[string]bool{}}
	s.began()
	c.add(s, codec.Entry{Type: protocol.TurnStarted, Turn: e.TurnID, Time: at, Data: protocol.TurnStartedData{MessageID: m.MessageID}})
}

// stopped ends the turn.
func (c *Client) stopped(s *session, e *sessionEvent, raw json.RawMessage) {
	t := s.turn
	if t == nil || t.id != e.TurnID {
		if raw != nil {
			c.raw(s, s.turnID(), sessionStopped, raw)
		}
		return
	}
	end := protocol.TurnEndedData{Reason: reasonOf(e.Reason, t.finish), Usage: t.usage}
	if st := s.log.State.Turn; st != nil {
		end.DurationMS = max(0, c.now.Sub(st.Started).Milliseconds())
	}
	if t.fault != nil {
		end.Message = *t.fault
	}
	if end.Reason == protocol.ReasonError {
		end.Code = protocol.CodeAgentFailed
	}
	if t.end != nil && stopReason(t.end.Reason) == e.Reason {
		end = *t.end
	}
	for len(s.log.State.Approvals) > 0 {
		n := len(s.log.State.Approvals)
		c.resolve(s, protocol.ApprovalResolvedData{Request: s.log.State.Approvals[0].Request, Outcome: protocol.Cancelled}, nil)
		if len(s.log.State.Approvals) == n {
			break
		}
	}
	c.add(s, codec.Entry{Type: protocol.TurnEnded, Turn: t.id, Data: end})
	s.turn, s.last = nil, t.answer
	c.release(t)
}

// release answers the interrupts that waited for the turn's end.
func (c *Client) release(t *turn) {
	for _, p := range t.interrupts {
		c.desk.Answer(c.out, &p.cmd, p.result)
	}
	t.interrupts = nil
}

// resolve ends an approval, once.
func (c *Client) resolve(s *session, d protocol.ApprovalResolvedData, by *protocol.Actor) {
	a := s.log.State.PendingApproval(d.Request)
	if a == nil {
		return
	}
	c.add(s, codec.Entry{Type: protocol.ApprovalResolved, Turn: a.Turn, Task: a.Task, By: by, Data: d})
	s.remember(d, by)
}

// remember keeps who decided, for who comes later.
func (s *session) remember(d protocol.ApprovalResolvedData, by *protocol.Actor) {
	w := protocol.Winner{Outcome: d.Outcome, Decision: d.Decision, Option: d.Option}
	if by != nil {
		w.By = *by
	}
	if _, known := s.decided[d.Request]; !known {
		s.order = append(s.order, d.Request)
	}
	s.decided[d.Request] = w
	if len(s.order) > maxDecided {
		delete(s.decided, s.order[0])
		s.order = s.order[1:]
	}
}

// decidedBy says why a request cannot be decided any more.
func (s *session) decidedBy(request string) *protocol.Error {
	w, known := s.decided[request]
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
