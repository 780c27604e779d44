package client

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/myagent/wire"
)

func (h *frameHandler) finalAnswer() {
	if h.namesTurns && !h.meta.Has("reason") {
		h.recordRaw()
		return
	}
	h.ensureTurn()
	h.recordAnswer(h.text())
	d := protocol.TurnEndedData{Reason: protocol.ReasonCompleted}
	h.endTurn(d)
}

// endTurn ends the turn as the frame describes.
func (h *frameHandler) endTurn(d protocol.TurnEndedData) {
	if reason := h.meta.Str("reason"); h.namesTurns && reason != "" {
		d.Reason, d.Message = protocol.Reason(clipID(reason)), h.meta.Str("message")
		d.Code = protocol.Code(clipID(h.meta.Str("code")))
	}
	d.Usage, d.DurationMS = h.usage(), h.executionMS()
	turn := h.session.log.State.Turn
	if turn == nil || turn.Turn != h.turnID() {
		h.recordRaw()
		return
	}
	if d.DurationMS == 0 && !h.namesTurns {
		ended := h.client.Now // the client's clock timed the start
		if h.meta.Has("orig_seq") {
			ended = h.at
		}
		d.DurationMS = max(0, ended.Sub(turn.Started).Milliseconds())
	}
	if !h.session.replayingList {
		h.session.endedSeq = uint64(h.Seq)
	}
	h.client.endTurn(h.session, h.at, d)
}

// maxNoticeText bounds a message text that is not content, in bytes.
const maxNoticeText = 16 << 10

// endTurn ends a session's turn and finishes the requests that await it.
func (c *Conn) endTurn(s *session, at time.Time, d protocol.TurnEndedData) {
	c.recordTurnEnd(s, at, d)
	for req := c.findRequest("", s.serverID, actionTurn); req != nil; req = c.findRequest("", s.serverID, actionTurn) {
		c.finishRequest(req, nil, nil)
	}
	if !s.replaying {
		c.betweenTurns(s)
	}
}

// recordTurnEnd ends the turn under way, with its approvals and, if nobody confirmed it, its plan.
func (c *Conn) recordTurnEnd(s *session, at time.Time, d protocol.TurnEndedData) {
	if s.log.State.Turn == nil {
		return
	}
	d.Message = protocol.SplitText(d.Message, maxNoticeText)[0]
	turn := s.log.State.Turn.Turn
	for _, a := range slices.Clone(s.log.State.Approvals) {
		if a.Turn == turn && !c.capabilities[wire.CapTurns] {
			c.record(s, codec.Entry{
				Type: protocol.ApprovalResolved, Turn: turn, Time: at,
				Data: protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Cancelled},
			})
			s.planDenied = s.planDenied || a.Kind == protocol.ApprovePlan
		}
	}
	if p := s.log.State.Plan; s.planDenied && p != nil && p.Status != protocol.StatusCancelled {
		c.record(s, codec.Entry{Type: protocol.PlanCancelled, Turn: turn, Time: at, Data: protocol.PlanErrorData{}})
	}
	c.record(s, codec.Entry{Type: protocol.TurnEnded, Turn: turn, Time: at, Data: d})
	s.forgetTurn()
}

// betweenTurns requests the session's state and sends the next queued message, unless the server
// does both.
func (c *Conn) betweenTurns(s *session) {
	if c.capabilities[wire.CapTurns] {
		return
	}
	if s.connected && c.capabilities[wire.CapReply] == c.capabilities[wire.CapTurns] &&
		c.findRequest("", s.serverID, wire.UserRequestState) == nil {
		c.requestState(s)
	}
	c.sendNext(s)
}

// requestState requests the session's state for the next connection, if sessions end with their
// connection.
func (c *Conn) requestState(s *session) {
	f := wire.Frame{Session: s.serverID, Event: wire.UserRequestState}
	c.sendRequest(f, s, func(raw json.RawMessage, err *protocol.Error) {
		if err == nil && len(raw) <= wire.MaxSigned {
			s.signedState = raw
		}
	})
}

func (h *frameHandler) timeout() {
	h.ensureTurn()
	if h.namesTurns && !h.meta.Has("reason") {
		h.recordError(protocol.ErrorKindTimeout)
		return
	}
	h.endTurn(protocol.TurnEndedData{Reason: protocol.ReasonTimeout, Message: h.text()})
}

func (h *frameHandler) interrupted() {
	if h.namesTurns && !h.meta.Has("reason") || h.session.log.State.Turn == nil {
		h.recordRaw()
		return
	}
	h.endTurn(protocol.TurnEndedData{Reason: protocol.ReasonInterrupted, Message: h.text()})
}

func (h *frameHandler) agentError() {
	s := h.session
	busy := strings.Contains(strings.ToLower(h.text()), "currently running")
	if s.log.State.Turn == nil || h.namesTurns && !h.meta.Has("reason") || !h.namesTurns && busy {
		h.recordError(protocol.ErrorKindExecution)
		return
	}
	h.endTurn(protocol.TurnEndedData{Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: h.text()})
}
