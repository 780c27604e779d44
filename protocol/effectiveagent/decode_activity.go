package effectiveagent

import (
	"cmp"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// handleActivity records an activity of a session.
func (c *client) handleActivity(s *session, a receivedActivity) {
	s.active = true
	switch {
	case s.pastSeq > 0:
		defer c.handlePast(s, &a)
	case !s.resumeBy.IsZero():
		c.resume(s, &a.Note)
	}
	if a.Note.After != "" {
		return
	}
	switch {
	case a.unreadable:
		c.raw(s, typeActivity, a.raw)
		return
	case a.Note.Event != "":
		c.handleNote(s, &a)
		return
	}
	s.form.update(&a)
	if w := s.confirmedBy(&a, c.pendingSends(s)); w != nil {
		c.acceptSend(w)
	}
	switch a.kind {
	case kindInput:
		c.handleInput(s, &a)
	case kindOutput:
		c.handleOutput(s, &a)
	case kindError:
		c.handleAgentError(s, &a)
	case kindStatus:
		c.handleStatus(s, &a)
	default:
		c.raw(s, a.Type, a.raw)
	}
}

// handleInput records a message to the agent, unless it echoes one of this client.
func (c *client) handleInput(s *session, a *receivedActivity) {
	text, whole := payloadText(a.Payload)
	if s.isEcho(a, text) {
		return
	}
	m := protocol.Message{MessageID: a.ID, Text: text}
	if m.MessageID == "" || len(m.MessageID) > maxID {
		m.MessageID = c.Options.ID("m")
	}
	who := &protocol.Actor{Name: Name}
	if a.Source != "" {
		who.Name = protocol.SplitText(a.Source, maxID)[0]
	}
	c.startLocalTurn(s, m, codec.Entry{By: who, Time: a.Time})
	if !whole {
		c.raw(s, a.Type, a.raw)
	}
}

// handleOutput records the agent's output as a part of its own.
func (c *client) handleOutput(s *session, a *receivedActivity) {
	turn := c.agentActive(s, true)
	s.lastError = ""
	text, whole := payloadText(a.Payload)
	if hasText(a.Payload) && text != "" {
		part := c.Options.ID("p")
		agent := ""
		if a.Source != s.id {
			agent = protocol.SplitText(a.Source, maxID)[0]
		}
		add := func(typ protocol.Type, data any) {
			c.add(s, codec.Entry{Type: typ, Turn: turn, Time: a.Time, Data: data})
		}
		add(protocol.TextStart, protocol.PartStartData{Part: part, Agent: agent})
		for _, piece := range protocol.SplitText(text, protocol.MaxText) {
			add(protocol.TextDelta, protocol.PartDeltaData{Part: part, Text: piece})
		}
		add(protocol.TextEnd, protocol.PartEndData{Part: part})
	}
	if !whole {
		c.raw(s, a.Type, a.raw)
	}
}

// handleAgentError records an error of the agent. It may or may not end the turn.
func (c *client) handleAgentError(s *session, a *receivedActivity) {
	turn := c.agentActive(s, false)
	text, whole := payloadText(a.Payload)
	if !hasText(a.Payload) {
		var known string
		known, whole = fieldText(a.Payload, "message", "error")
		text = cmp.Or(known, text)
	}
	d := protocol.ErrorData{
		Kind: protocol.ErrorKindExecution, Code: protocol.CodeAgentFailed,
		Message: protocol.SplitText(text, protocol.MaxText)[0],
	}
	if turn != "" {
		s.lastError = cmp.Or(d.Message, "the agent reported an error")
	}
	c.add(s, codec.Entry{Type: protocol.ErrorRaised, Turn: turn, Time: a.Time, Data: d})
	if !whole {
		c.raw(s, a.Type, a.raw)
	}
}

// handleStatus records the agent's status. Some statuses end the turn.
func (c *client) handleStatus(s *session, a *receivedActivity) {
	text := codec.String(a.Payload)
	whole := text != ""
	if !whole {
		text, whole = fieldText(a.Payload, "status", "state")
	}
	ends := s.localTurn && endOfTurn(text) != ""
	if text != "" && !ends {
		d := protocol.NoticeData{Level: protocol.LevelInfo, Message: protocol.SplitText(text, protocol.MaxText)[0]}
		c.add(s, codec.Entry{Type: protocol.Notice, Turn: s.log.Turn(), Time: a.Time, Data: d})
	}
	if !whole {
		c.raw(s, a.Type, a.raw)
	}
	if !ends {
		return
	}
	switch endOfTurn(text) {
	case protocol.ReasonInterrupted:
		c.endTurnWith(s, protocol.TurnEndedData{Reason: protocol.ReasonInterrupted})
	case protocol.ReasonError:
		s.lastError = cmp.Or(s.lastError, text)
		c.endTurn(s)
	default:
		c.endTurn(s)
	}
}

// endOfTurn returns how a status ends the turn; "": it does not.
func endOfTurn(status string) protocol.Reason {
	switch strings.ToLower(status) {
	case "idle", "ready", "completed", "complete", "done", "finished", "stopped", "terminated":
		return protocol.ReasonCompleted
	case "failed", "error", "errored":
		return protocol.ReasonError
	case "interrupted", "cancelled", "canceled", "aborted":
		return protocol.ReasonInterrupted
	}
	return ""
}

// agentActive notes activity of the agent and returns the id of its turn. must starts a turn if
// there is none.
func (c *client) agentActive(s *session, must bool) (turn string) {
	if turn = s.log.Turn(); turn == "" && must {
		turn = c.startLocalTurn(s, protocol.Message{MessageID: c.Options.ID("m")}, codec.Entry{})
	}
	s.sentTexts = nil
	if s.localTurn {
		s.idleAt = c.Now.Add(c.idleTimeout)
	}
	return turn
}
