package effectiveagent

import (
	"cmp"
	"encoding/json"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// activity takes an activity of a session.
func (c *Client) activity(s *session, a seen) {
	s.heard = true
	switch {
	case s.until > 0:
		defer c.past(s, &a)
	case !s.resumes.IsZero():
		c.settle(s, &a.Note)
	}
	if a.Note.After != "" {
		return
	}
	switch {
	case a.unreadable:
		c.raw(s, typeActivity, a.whole)
		return
	case a.Note.Event != "":
		c.noted(s, &a)
		return
	}
	s.form.learn(&a)
	for _, w := range c.sendsTo(s) { // this server does not tell what becomes of them
		c.unrefused(w)
	}
	switch a.kind {
	case kindInput:
		c.input(s, &a)
	case kindOutput:
		c.output(s, &a)
	case kindError:
		c.problem(s, &a)
	case kindStatus:
		c.status(s, &a)
	default:
		c.raw(s, a.Type, a.whole)
	}
}

// input is what somebody said to the agent. Our own words are recorded already.
func (c *Client) input(s *session, a *seen) {
	text, whole := wordsOf(a.Payload)
	if s.echoed(a, text) {
		return
	}
	m := protocol.Message{MessageID: a.ID, Text: text}
	if m.MessageID == "" || len(m.MessageID) > maxID {
		m.MessageID = c.call.ID("m")
	}
	who := &protocol.Actor{Name: Name}
	if a.Source != "" {
		who.Name = protocol.SplitText(a.Source, maxID)[0]
	}
	c.starts(s, m, codec.Entry{By: who, Time: a.Time})
	if !whole {
		c.raw(s, a.Type, a.whole)
	}
}

// output is what the agent says: a part of its own.
func (c *Client) output(s *session, a *seen) {
	turn := c.spoke(s, true)
	s.erred = false
	text, whole := wordsOf(a.Payload)
	if spoken(a.Payload) && text != "" {
		part := c.call.ID("p")
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
		c.raw(s, a.Type, a.whole)
	}
}

// problem is an error of the agent. Whether the turn is over is not said.
func (c *Client) problem(s *session, a *seen) {
	turn := c.spoke(s, false)
	s.erred = turn != ""
	text, whole := wordsOf(a.Payload)
	var fields struct{ Message, Error json.RawMessage }
	if !spoken(a.Payload) && json.Unmarshal(a.Payload, &fields) == nil {
		text = cmp.Or(word(fields.Message), word(fields.Error), text)
	}
	d := protocol.ErrorData{Kind: protocol.ErrorKindExecution, Code: protocol.CodeAgentFailed, Message: protocol.SplitText(text, protocol.MaxText)[0]}
	c.add(s, codec.Entry{Type: protocol.ErrorRaised, Turn: turn, Time: a.Time, Data: d})
	if !whole {
		c.raw(s, a.Type, a.whole)
	}
}

// status is what the agent is doing. Some words end the turn.
func (c *Client) status(s *session, a *seen) {
	var fields struct{ Status, State json.RawMessage }
	text := word(a.Payload)
	whole := text != ""
	if !whole && json.Unmarshal(a.Payload, &fields) == nil {
		if text = word(fields.Status); text == "" {
			text = word(fields.State)
		}
	}
	if text != "" {
		d := protocol.NoticeData{Level: protocol.LevelInfo, Message: protocol.SplitText(text, protocol.MaxText)[0]}
		c.add(s, codec.Entry{Type: protocol.Notice, Turn: s.turn(), Time: a.Time, Data: d})
	}
	if !whole {
		c.raw(s, a.Type, a.whole)
	}
	if s.local {
		switch strings.ToLower(text) {
		case "idle", "ready", "completed", "complete", "done", "finished", "stopped", "terminated":
			c.end(s)
		case "failed", "error", "errored":
			s.erred = true
			c.end(s)
		case "interrupted", "cancelled", "canceled", "aborted":
			c.ends(s, protocol.TurnEndedData{Reason: protocol.ReasonInterrupted})
		}
	}
}

// spoke notes that the agent said something, and returns the turn that it belongs to. must makes one if there is none.
func (c *Client) spoke(s *session, must bool) (turn string) {
	if turn = s.turn(); turn == "" && must {
		turn = c.starts(s, protocol.Message{MessageID: c.call.ID("m")}, codec.Entry{})
	}
	s.said = nil
	if s.local {
		s.quiet = c.now.Add(c.quiet)
	}
	return turn
}
