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

// open reports whether a part is open.
func (h *heard) open(kind protocol.Kind, part string) bool {
	t := h.s.log.State.Turn
	return t != nil && slices.ContainsFunc(t.Parts, func(p protocol.OpenPart) bool { return p.Part == part && p.Kind == kind })
}

// minted is a part's id where the server gives none.
func (h *heard) minted() string {
	h.s.parts++
	return "p" + strconv.Itoa(h.s.parts)
}

// say appends text to a part, which is begun where it is not open.
func (h *heard) say(kind protocol.Kind, part, text string) {
	start, delta := protocol.TextStart, protocol.TextDelta
	if kind == protocol.KindReasoning {
		start, delta = protocol.ReasoningStart, protocol.ReasoningDelta
	}
	if !h.open(kind, part) {
		h.add(start, protocol.PartStartData{Part: part, Agent: clip(h.meta.str("agent_name"))})
	}
	for _, piece := range protocol.SplitText(text, protocol.MaxText) {
		if piece != "" {
			h.add(delta, protocol.PartDeltaData{Part: part, Text: piece})
		}
	}
}

func (h *heard) endPart(t protocol.Type, part string, ms int64) {
	h.add(t, protocol.PartEndData{Part: part, DurationMS: ms})
}

func (h *heard) thinking() {
	h.working()
	part, last := clip(h.meta.str("part")), h.meta.str("is_final") == "true"
	streaming := part != "" || h.meta.str("streaming") == "true"
	switch {
	case part != "":
	case h.s.thought != "":
		part = h.s.thought
	default:
		part = h.minted()
	}
	h.say(protocol.KindReasoning, part, h.text())
	if last || !streaming {
		h.endPart(protocol.ReasoningEnd, part, h.ms())
		h.s.thought = ""
	} else if !h.meta.has("part") {
		h.s.thought = part
	}
}

func (h *heard) partialAnswer() {
	if !h.told && h.s.log.State.Turn == nil {
		h.raw() // behind its turn's end: the answer has it
		return
	}
	part, last := clip(h.meta.str("part")), h.meta.str("is_final") == "true"
	if part == "" {
		if h.s.text == "" {
			h.s.text = h.minted()
		}
		part = h.s.text
	}
	text := h.text()
	h.say(protocol.KindText, part, text)
	if !h.meta.has("task_id") && !h.meta.has("parent_id") {
		h.s.hears(text)
	}
	if last {
		h.endPart(protocol.TextEnd, part, h.ms())
		h.s.text = ""
	}
}

// hears remembers the turn's text, to know what of the final answer is new.
func (s *session) hears(text string) {
	if len(s.heard)+len(text) <= maxAnswer {
		s.heard = append(s.heard, text...)
	}
}

// answer records what of a final answer was not heard before. Parts are joined by blank lines in it.
func (h *heard) answer(text string) {
	bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
	before, sum, all := bare(string(h.s.heard)), bare(h.s.summed), bare(text)
	if strings.Contains(before, all) || sum == all || h.told && before+sum != "" {
		return
	}
	part := h.s.text
	rest, goesOn := strings.CutPrefix(text, string(h.s.heard))
	if goesOn {
		text = rest
	}
	if part == "" || !goesOn {
		part = h.minted()
	}
	h.say(protocol.KindText, part, text)
	h.endPart(protocol.TextEnd, part, 0)
}

func (h *heard) finalAnswer() {
	if h.told && !h.meta.has("reason") {
		h.raw()
		return
	}
	h.working()
	h.answer(h.text())
	d := protocol.TurnEndedData{Reason: protocol.ReasonCompleted}
	h.ended(d)
}

// ended ends the turn as the frame says it.
func (h *heard) ended(d protocol.TurnEndedData) {
	if reason := h.meta.str("reason"); h.told && reason != "" {
		d.Reason, d.Code, d.Message = protocol.Reason(clip(reason)), protocol.Code(clip(h.meta.str("code"))), h.meta.str("message")
	}
	d.Usage, d.DurationMS = h.usage(), h.ms()
	turn := h.s.log.State.Turn
	if turn == nil || turn.Turn != h.turn() {
		h.raw()
		return
	}
	if d.DurationMS == 0 && !h.told {
		d.DurationMS = max(0, h.at.Sub(turn.Started).Milliseconds())
	}
	h.c.endTurn(h.s, h.at, d)
}

// maxWords bounds a text for people that is not content, in bytes.
const maxWords = 16 << 10

// endTurn ends a session's turn and tells who waits for that.
func (c *client) endTurn(s *session, at time.Time, d protocol.TurnEndedData) {
	d.Message = protocol.SplitText(d.Message, maxWords)[0]
	turn := s.log.State.Turn.Turn
	for _, a := range slices.Clone(s.log.State.Approvals) {
		if a.Turn == turn && !c.can[canTurns] {
			s.add(c, codec.Entry{Type: protocol.ApprovalResolved, Turn: turn, Time: at, Data: protocol.ApprovalResolvedData{
				Request: a.Request, Outcome: protocol.Cancelled,
			}})
		}
	}
	s.add(c, codec.Entry{Type: protocol.TurnEnded, Turn: turn, Time: at, Data: d})
	s.forgetTurn()
	for a := c.waiting("", s.foreign, actionTurn); a != nil; a = c.waiting("", s.foreign, actionTurn) {
		c.settle(a, nil, nil)
	}
	if !s.replays {
		c.rest(s)
	}
}

// rest does what is due between turns where the server does not do it: the session's state is asked for, and the next message said.
func (c *client) rest(s *session) {
	if c.can[canTurns] {
		return
	}
	if s.here && c.can[canReply] == c.can[canTurns] && c.waiting("", s.foreign, userRequestState) == nil {
		c.save(s)
	}
	c.next(s)
}

// save asks a server whose sessions end with their connection for the session's state, for the next connection.
func (c *client) save(s *session) {
	c.ask(frame{Session: s.foreign, Event: userRequestState}, s, func(raw json.RawMessage, err *protocol.Error) {
		if err == nil && len(raw) <= maxSigned {
			s.state = raw
		}
	})
}

func (h *heard) timeout() {
	h.working()
	if h.told && !h.meta.has("reason") {
		h.fault(protocol.ErrorKindTimeout)
		return
	}
	h.ended(protocol.TurnEndedData{Reason: protocol.ReasonTimeout, Message: h.text()})
}

func (h *heard) interrupted() {
	if h.told && !h.meta.has("reason") || h.s.log.State.Turn == nil {
		h.raw()
		return
	}
	h.ended(protocol.TurnEndedData{Reason: protocol.ReasonInterrupted, Message: h.text()})
}

func (h *heard) agentError() {
	s := h.s
	busy := strings.Contains(strings.ToLower(h.text()), "currently running")
	if s.log.State.Turn == nil || h.told && !h.meta.has("reason") || !h.told && busy {
		h.fault(protocol.ErrorKindExecution)
		return
	}
	h.ended(protocol.TurnEndedData{Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: h.text()})
}
