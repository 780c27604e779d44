package client

import (
	"slices"
	"strconv"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/myagent/wire"
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
		h.record(start, protocol.PartStartData{Part: part, Agent: clipID(h.meta.Str("agent_name"))})
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
	part, last := clipID(h.meta.Str("part")), h.meta.Str("is_final") == "true"
	streaming := part != "" || h.meta.Str("streaming") == "true"
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
	} else if !h.meta.Has("part") {
		h.session.openReasoning = part
	}
}

// endReasoning ends the open reasoning of a server without part ids.
func (h *frameHandler) endReasoning() {
	if h.session.openReasoning != "" {
		h.endPart(protocol.ReasoningEnd, h.session.openReasoning, 0)
		h.session.openReasoning = ""
	}
}

// partialAnswer records a piece of an answer.
func (h *frameHandler) partialAnswer() {
	if !h.namesTurns {
		h.partialOfMyAgent()
		return
	}
	part, text := clipID(h.meta.Str("part")), h.text()
	if part == "" {
		if h.session.openText == "" {
			h.session.openText = h.newPartID()
		}
		part = h.session.openText
	}
	h.appendPart(protocol.KindText, part, text)
	if !h.meta.Has("task_id") && !h.meta.Has("parent_id") {
		h.session.appendTurnText(text)
	}
	if h.meta.Str("is_final") == "true" {
		h.endPart(protocol.TextEnd, part, h.executionMS())
		h.session.openText = ""
	}
}

// partialOfMyAgent records a piece of an answer of a MyAgent server. Such a server sends only the
// newest piece of each 75 ms, and the complete text as the final answer. Until the first piece is
// missing, pieces are the text. After that they are progress: the text continues with the final
// answer, which is then known to begin with the text before.
func (h *frameHandler) partialOfMyAgent() {
	s, text := h.session, h.text()
	follows := h.client.seqs.follows(s.pieceSeq, uint64(h.Seq))
	switch {
	case s.log.State.Turn == nil, h.Seq > 0 && uint64(h.Seq) <= s.endedSeq:
		return // of a finished turn, whose answer includes it
	case text == "":
		s.textEnded = s.openText != ""
		return
	case !s.textLost && follows:
		s.pieceSeq = uint64(h.Seq)
		h.endReasoning()
		if s.textEnded {
			h.endText()
		}
		if s.openText == "" {
			s.openText = h.newPartID()
		}
		h.appendPart(protocol.KindText, s.openText, text)
		s.appendTurnText(text)
		return
	}
	if s.pieceSeq = uint64(h.Seq); !follows {
		text = "…" + text
	}
	switch {
	case s.openReasoning == "":
		s.openReasoning = h.newPartID()
	case !s.textLost:
		text = "\n" + text
	}
	s.textLost = true
	h.appendPart(protocol.KindReasoning, s.openReasoning, text)
}

// endText ends the open text part of a server without part ids.
func (h *frameHandler) endText() {
	if h.session.openText != "" {
		h.endPart(protocol.TextEnd, h.session.openText, 0)
		h.session.openText, h.session.textEnded = "", false
	}
}

// appendTurnText collects the turn's text, to find the new part of the final answer.
func (s *session) appendTurnText(text string) {
	if len(s.turnText)+len(text) <= wire.MaxAnswer {
		s.turnText = append(s.turnText, text...)
	}
}

// recordAnswer records the part of a final answer that was not streamed. The answer joins parts by
// blank lines.
func (h *frameHandler) recordAnswer(text string) {
	defer h.endText()
	bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
	before, sum, all := bare(string(h.session.turnText)), bare(h.session.aggregate), bare(text)
	if strings.Contains(before, all) || sum == all || h.namesTurns && before+sum != "" {
		return
	}
	part := h.session.openText
	// the server trims its answer
	rest, goesOn := strings.CutPrefix(text, strings.TrimLeft(string(h.session.turnText), " \n"))
	if goesOn {
		text = rest
	}
	if part == "" || !goesOn {
		h.endText()
		part = h.newPartID()
	}
	h.appendPart(protocol.KindText, part, text)
	h.session.openText = part
}
