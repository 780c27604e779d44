package client

import (
	"encoding/json"
	"hash/fnv"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/sandcastle/wire"
)

// A turn is the current turn of a session that the client follows.
type turn struct {
	id              string
	answer          *string // its message in the history; nil: unknown
	tools           map[string]*tool
	bytes           int             // of outputs
	nativeApprovals map[string]bool // approvals that arrived as native events, as their ends will
	approvalTools   map[string]bool // tool calls that represent such approvals
	lastError       *string         // an error that may end the turn
	finish          string
	usage           *protocol.Usage
	context         int64                   // tokens of the model's last answer
	nativeEnd       *protocol.TurnEndedData // from agentctl's server
	interrupts      []pendingInterrupt

	buffered   int // events in the server's buffer
	bufferHash uint64
}

// A tool is a tool call of the turn.
type tool struct {
	name, title string
	input       json.RawMessage
	parent      string
	text        string // output so far
	structured  bool   // the output so far is more than text
	lastHash    uint64 // hash of the last output
}

// A pendingInterrupt is an answer that awaits the end of the turn.
type pendingInterrupt struct {
	cmd    *protocol.Command
	result protocol.InterruptResult
}

// hashNext hashes raw, seeded with the hash of what precedes it.
func hashNext(seed uint64, raw []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte{
		byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24), byte(seed >> 32), byte(seed >> 40),
		byte(seed >> 48), byte(seed >> 56),
	})
	_, _ = h.Write(raw)
	return h.Sum64()
}

// continuedBy reports whether a buffer begins with all known events of the turn.
func (t *turn) continuedBy(buffer []json.RawMessage) bool {
	if len(buffer) < t.buffered {
		return false
	}
	var s uint64
	for _, raw := range buffer[:t.buffered] {
		s = hashNext(s, raw)
	}
	return s == t.bufferHash
}

// startTurn starts a turn.
func (c *Conn) startTurn(s *session, e *wire.SessionEvent) {
	if s.turn != nil {
		lost := "the server started another turn"
		s.turn.lastError = &lost
		c.endTurn(s, &wire.SessionEvent{TurnID: s.turn.id, Reason: wire.StopError}, nil)
	}
	at := wire.ParseTime(e.StartedAt)
	if s.nextMessage != nil && e.MessageID != "" && s.nextMessage.ID != e.MessageID {
		c.recordUnstarted(s)
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
	c.record(s, codec.Entry{
		Type: protocol.MessageUser, Turn: e.TurnID, Time: at, Data: protocol.MessageUserData{Message: m},
	})
	if s.log.State.Turn == nil || s.log.State.Turn.Turn != e.TurnID { // too large for an event
		m.Text, m.Parts = protocol.SplitText(m.Text, protocol.MaxText)[0], nil
		c.record(s, codec.Entry{
			Type: protocol.MessageUser, Turn: e.TurnID, Time: at, Data: protocol.MessageUserData{Message: m},
		})
	}
	s.turn = &turn{
		id: e.TurnID, tools: map[string]*tool{}, nativeApprovals: map[string]bool{},
		approvalTools: map[string]bool{},
	}
	s.recordStartedSend()
	c.record(s, codec.Entry{
		Type: protocol.TurnStarted, Turn: e.TurnID, Time: at, Data: protocol.TurnStartedData{MessageID: m.MessageID},
	})
}

// endTurn ends the turn.
func (c *Conn) endTurn(s *session, e *wire.SessionEvent, raw json.RawMessage) {
	t := s.turn
	if t == nil || t.id != e.TurnID {
		if raw != nil {
			c.recordRaw(s, s.turnID(), wire.SessionStopped, raw)
		}
		return
	}
	end := protocol.TurnEndedData{Reason: wire.ReasonOf(e.Reason, t.finish), Usage: t.usage}
	if st := s.log.State.Turn; st != nil {
		end.DurationMS = max(0, c.Now.Sub(st.Started).Milliseconds())
	}
	if t.lastError != nil {
		end.Message = *t.lastError
	}
	if end.Reason == protocol.ReasonError {
		end.Code = protocol.CodeAgentFailed
		if end.Message == "" {
			end.Message = "the turn failed: the server does not report why, its log may"
		}
	}
	if t.nativeEnd != nil && wire.StopReason(t.nativeEnd.Reason) == e.Reason {
		end = *t.nativeEnd
	}
	for len(s.log.State.Approvals) > 0 {
		n := len(s.log.State.Approvals)
		c.recordResolution(s, protocol.ApprovalResolvedData{
			Request: s.log.State.Approvals[0].Request, Outcome: protocol.Cancelled,
		}, nil)
		if len(s.log.State.Approvals) == n {
			break
		}
	}
	c.record(s, codec.Entry{Type: protocol.TurnEnded, Turn: t.id, Data: end})
	s.turn, s.lastMessage = nil, t.answer
	c.answerInterrupts(t)
}

// answerInterrupts answers the interrupts that await the turn's end.
func (c *Conn) answerInterrupts(t *turn) {
	for _, p := range t.interrupts {
		c.Answer(p.cmd, p.result)
	}
	t.interrupts = nil
}

// recordResolution records the end of an approval, once.
func (c *Conn) recordResolution(s *session, d protocol.ApprovalResolvedData, by *protocol.Actor) {
	a := s.log.State.PendingApproval(d.Request)
	if a == nil {
		return
	}
	c.record(s, codec.Entry{Type: protocol.ApprovalResolved, Turn: a.Turn, Task: a.Task, By: by, Data: d})
	s.decisions.Put(by, d)
}
