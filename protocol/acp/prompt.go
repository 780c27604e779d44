package acp

import (
	"encoding/json"
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// A prompt is a message of this client whose turn has not ended.
type prompt struct {
	request  json.RawMessage // without an answer; empty: answered
	sent     string          // the client's id of the message
	message  string          // its id; empty: agentctl's server has not answered
	turn     string          // empty: it is queued
	canceled bool
}

// prompts are the prompts of this client to a session, in the order in which they came.
type prompts struct {
	*feed
	list []*prompt
}

// prompt sends a message.
func (c *Conn) prompt(r *request) {
	p, ok := decode[struct {
		Session string  `json:"sessionId"`
		Prompt  []block `json:"prompt"`
	}](&c.client, r)
	if !ok {
		return
	}
	s := c.sessions[p.Session]
	if s == nil {
		c.refuse(r.ID, protocol.CodeNoSession, "session %s is not open", codec.Excerpt(p.Session))
		return
	}
	text, parts, err := decodePrompt(p.Prompt)
	if err != nil {
		c.fail(r.ID, errorOf(err))
		return
	}
	s.prompts.send(r, text, parts)
}

// send sends a message. In version 1 the end of its turn is the answer, in version 2 its id.
func (l *prompts) send(r *request, text string, parts []protocol.Part) {
	c := l.client
	d := protocol.SendData{ClientMessageID: c.Options.ID("acp"), Text: text, Parts: parts}
	sent := &prompt{request: r.ID, sent: d.ClientMessageID}
	l.list = append(l.list, sent)
	c.Request(protocol.DoSend, l.Session, d.ClientMessageID, d, func(a protocol.Answer) {
		r, err := codec.DecodeResult[protocol.SendResult](a)
		if err != nil {
			l.end(sent, "", err)
			return
		}
		sent.message = r.MessageID
		if sent.turn == "" {
			sent.turn = r.Turn
		}
		if c.version == 2 && len(sent.request) > 0 {
			c.answer(sent.request, object{"messageId": r.MessageID})
			sent.request = nil
		}
		if sent.canceled {
			l.takeBack(sent)
		}
	})
}

// end forgets a prompt, and answers it if it has no answer yet.
func (l *prompts) end(p *prompt, reason string, err *protocol.Error) {
	l.list = slices.DeleteFunc(l.list, func(other *prompt) bool { return other == p })
	c := l.client
	switch {
	case len(p.request) == 0:
		return
	case c.version == 2 && p.message != "": // its turn is over before the answer came
		c.answer(p.request, object{"messageId": p.message})
	case err != nil:
		c.fail(p.request, errorOf(err))
	case c.version == 2:
		c.refuse(p.request, protocol.CodeNotSubscribed, "the session was closed")
	default:
		c.answer(p.request, object{"stopReason": reason})
	}
	p.request = nil
}

// endAll ends all prompts that match.
func (l *prompts) endAll(match func(*prompt) bool, reason string, err *protocol.Error) {
	for _, p := range slices.Clone(l.list) {
		if match(p) {
			l.end(p, reason, err)
		}
	}
}

// cancel takes back the prompt of a request; nil: all prompts. Those in the queue are removed, and a
// turn that one of them began is interrupted. Turns of others continue.
func (l *prompts) cancel(request json.RawMessage) {
	for _, p := range slices.Backward(l.list) { // else the end of a turn would start the next message
		if request != nil && (len(p.request) == 0 || string(p.request) != string(request)) {
			continue
		}
		p.canceled = true
		if p.message != "" {
			l.takeBack(p)
		}
	}
}

// takeBack takes back a prompt. Events report what became of it.
func (l *prompts) takeBack(p *prompt) {
	c := l.client
	key := c.Options.ID("acp")
	if p.turn == "" {
		c.Request(protocol.DoQueueRemove, l.Session, key, protocol.QueueRemoveData{MessageID: p.message}, nil)
		return
	}
	if t := l.State.Turn; t != nil && t.Turn == p.turn && t.Message.ClientMessageID != p.sent {
		return // it joined a turn of another user
	}
	c.Request(protocol.DoInterrupt, l.Session, key, protocol.InterruptData{Turn: p.turn}, nil)
}

// apply follows what became of the prompts, except at the end of their turns.
func (l *prompts) apply(e *protocol.Event) {
	switch e.Type {
	case protocol.MessageUser:
		l.start(&codec.DecodeEvent[protocol.MessageUserData](e).Message, e.Turn)
	case protocol.MessageSteered:
		l.start(&codec.DecodeEvent[protocol.MessageSteeredData](e).Message, e.Turn)
	case protocol.MessageResolved:
		d := codec.DecodeEvent[protocol.MessageResolvedData](e)
		for _, p := range l.list {
			if p.message == d.MessageID && d.Outcome == protocol.SteerRefused {
				p.turn = ""
			}
		}
	case protocol.QueueRemoved:
		d := codec.DecodeEvent[protocol.QueueRemovedData](e)
		if d.Reason == protocol.RemovedUser || d.Reason == protocol.RemovedCleared {
			l.endAll(func(p *prompt) bool { return p.message == d.MessageID }, "cancelled", nil)
		}
	}
}

// start notes the turn of a message, if it is a prompt of this client.
func (l *prompts) start(m *protocol.Message, turn string) {
	for _, p := range l.list {
		if m.ClientMessageID != p.sent {
			continue
		}
		p.turn, p.message = turn, m.MessageID
		if p.canceled {
			l.takeBack(p)
		}
	}
}

// has reports whether a message is a prompt of this client.
func (l *prompts) has(m *protocol.Message) bool {
	return slices.ContainsFunc(l.list, func(p *prompt) bool { return p.sent == m.ClientMessageID })
}

// inTurn returns what reports whether a prompt is in a turn.
func inTurn(turn string) func(*prompt) bool { return func(p *prompt) bool { return p.turn == turn } }

// stopReason returns the stop reason of a turn, or the error that ended it.
func stopReason(d *protocol.TurnEndedData) (string, *protocol.Error) {
	switch d.Reason {
	case protocol.ReasonCompleted:
		return "end_turn", nil
	case protocol.ReasonInterrupted, protocol.ReasonDenied:
		return "cancelled", nil
	case protocol.ReasonMaxTokens:
		return "max_tokens", nil
	case protocol.ReasonMaxRequests:
		return "max_turn_requests", nil
	case protocol.ReasonRefusal:
		return "refusal", nil
	}
	err := &protocol.Error{Code: d.Code, Message: d.Message}
	if err.Code == "" {
		err.Code = protocol.CodeAgentFailed
	}
	if err.Message == "" {
		err.Message = "the turn ended: " + string(d.Reason)
	}
	return "", err
}
