package myagent

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// partOpen reports whether a part is open.
func (h *frameHandler) partOpen(kind protocol.Kind, part string) bool {
	t := h.session.log.State.Turn
	return t != nil && slices.ContainsFunc(t.Parts, func(p protocol.OpenPart) bool {
		return p.Part == part && p.Kind == kind
	})
}

// newPartID returns a part id, for servers that send none.
func (h *frameHandler) newPartID() string {
	h.session.parts++
	return "p" + strconv.Itoa(h.session.parts)
}

// appendPart appends text to a part and starts it if it is not open.
func (h *frameHandler) appendPart(kind protocol.Kind, part, text string) {
	start, delta := protocol.TextStart, protocol.TextDelta
	if kind == protocol.KindReasoning {
		start, delta = protocol.ReasoningStart, protocol.ReasoningDelta
	}
	if !h.partOpen(kind, part) {
		h.record(start, protocol.PartStartData{Part: part, Agent: clipID(h.meta.str("agent_name"))})
	}
	for _, piece := range protocol.SplitText(text, protocol.MaxText) {
		if piece != "" {
			h.record(delta, protocol.PartDeltaData{Part: part, Text: piece})
		}
	}
}

func (h *frameHandler) endPart(t protocol.Type, part string, ms int64) {
	h.record(t, protocol.PartEndData{Part: part, DurationMS: ms})
}

func (h *frameHandler) thinking() {
	h.ensureTurn()
	part, last := clipID(h.meta.str("part")), h.meta.str("is_final") == "true"
	streaming := part != "" || h.meta.str("streaming") == "true"
	switch {
	case part != "":
	case h.session.openReasoning != "":
		part = h.session.openReasoning
	default:
		part = h.newPartID()
	}
	h.appendPart(protocol.KindReasoning, part, h.text())
	if last || !streaming {
		h.endPart(protocol.ReasoningEnd, part, h.executionMS())
		h.session.openReasoning = ""
	} else if !h.meta.has("part") {
		h.session.openReasoning = part
	}
}

func (h *frameHandler) partialAnswer() {
	if !h.namesTurns && h.session.log.State.Turn == nil {
		h.recordRaw() // after the end of its turn, whose answer includes it
		return
	}
	part, last := clipID(h.meta.str("part")), h.meta.str("is_final") == "true"
	if part == "" {
		if h.session.openText == "" {
			h.session.openText = h.newPartID()
		}
		part = h.session.openText
	}
	text := h.text()
	h.appendPart(protocol.KindText, part, text)
	if !h.meta.has("task_id") && !h.meta.has("parent_id") {
		h.session.appendTurnText(text)
	}
	if last {
		h.endPart(protocol.TextEnd, part, h.executionMS())
		h.session.openText = ""
	}
}

// appendTurnText collects the turn's text, to find the new part of the final answer.
func (s *session) appendTurnText(text string) {
	if len(s.turnText)+len(text) <= maxAnswer {
		s.turnText = append(s.turnText, text...)
	}
}

// recordAnswer records the part of a final answer that was not streamed. The answer joins parts by
// blank lines.
func (h *frameHandler) recordAnswer(text string) {
	bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
	before, sum, all := bare(string(h.session.turnText)), bare(h.session.aggregate), bare(text)
	if strings.Contains(before, all) || sum == all || h.namesTurns && before+sum != "" {
		return
	}
	part := h.session.openText
	rest, goesOn := strings.CutPrefix(text, string(h.session.turnText))
	if goesOn {
		text = rest
	}
	if part == "" || !goesOn {
		part = h.newPartID()
	}
	h.appendPart(protocol.KindText, part, text)
	h.endPart(protocol.TextEnd, part, 0)
}

func (h *frameHandler) finalAnswer() {
	if h.namesTurns && !h.meta.has("reason") {
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
	if reason := h.meta.str("reason"); h.namesTurns && reason != "" {
		d.Reason, d.Message = protocol.Reason(clipID(reason)), h.meta.str("message")
		d.Code = protocol.Code(clipID(h.meta.str("code")))
	}
	d.Usage, d.DurationMS = h.usage(), h.executionMS()
	turn := h.session.log.State.Turn
	if turn == nil || turn.Turn != h.turnID() {
		h.recordRaw()
		return
	}
	if d.DurationMS == 0 && !h.namesTurns {
		d.DurationMS = max(0, h.at.Sub(turn.Started).Milliseconds())
	}
	h.client.endTurn(h.session, h.at, d)
}

// maxNoticeText bounds a message text that is not content, in bytes.
const maxNoticeText = 16 << 10

// endTurn ends a session's turn and finishes the requests that await it.
func (c *client) endTurn(s *session, at time.Time, d protocol.TurnEndedData) {
	d.Message = protocol.SplitText(d.Message, maxNoticeText)[0]
	turn := s.log.State.Turn.Turn
	for _, a := range slices.Clone(s.log.State.Approvals) {
		if a.Turn == turn && !c.capabilities[capTurns] {
			c.record(s, codec.Entry{
				Type: protocol.ApprovalResolved, Turn: turn, Time: at,
				Data: protocol.ApprovalResolvedData{Request: a.Request, Outcome: protocol.Cancelled},
			})
		}
	}
	c.record(s, codec.Entry{Type: protocol.TurnEnded, Turn: turn, Time: at, Data: d})
	s.forgetTurn()
	for req := c.findRequest("", s.serverID, actionTurn); req != nil; req = c.findRequest("", s.serverID, actionTurn) {
		c.finishRequest(req, nil, nil)
	}
	if !s.replaying {
		c.betweenTurns(s)
	}
}

// betweenTurns requests the session's state and sends the next queued message, unless the server
// does both.
func (c *client) betweenTurns(s *session) {
	if c.capabilities[capTurns] {
		return
	}
	if s.connected && c.capabilities[capReply] == c.capabilities[capTurns] &&
		c.findRequest("", s.serverID, userRequestState) == nil {
		c.requestState(s)
	}
	c.sendNext(s)
}

// requestState requests the session's state for the next connection, if sessions end with their
// connection.
func (c *client) requestState(s *session) {
	f := frame{Session: s.serverID, Event: userRequestState}
	c.sendRequest(f, s, func(raw json.RawMessage, err *protocol.Error) {
		if err == nil && len(raw) <= maxSigned {
			s.signedState = raw
		}
	})
}

func (h *frameHandler) timeout() {
	h.ensureTurn()
	if h.namesTurns && !h.meta.has("reason") {
		h.recordError(protocol.ErrorKindTimeout)
		return
	}
	h.endTurn(protocol.TurnEndedData{Reason: protocol.ReasonTimeout, Message: h.text()})
}

func (h *frameHandler) interrupted() {
	if h.namesTurns && !h.meta.has("reason") || h.session.log.State.Turn == nil {
		h.recordRaw()
		return
	}
	h.endTurn(protocol.TurnEndedData{Reason: protocol.ReasonInterrupted, Message: h.text()})
}

func (h *frameHandler) agentError() {
	s := h.session
	busy := strings.Contains(strings.ToLower(h.text()), "currently running")
	if s.log.State.Turn == nil || h.namesTurns && !h.meta.has("reason") || !h.namesTurns && busy {
		h.recordError(protocol.ErrorKindExecution)
		return
	}
	h.endTurn(protocol.TurnEndedData{Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: h.text()})
}
