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

// prompt sends a message. In version 1 the end of its turn is the answer, in version 2 its id.
func (c *Conn) prompt(r *request) {
	p, ok := decode[struct {
		Session string  `json:"sessionId"`
		Prompt  []block `json:"prompt"`
	}](c, r)
	if !ok {
		return
	}
	s := c.sessions[p.Session]
	if s == nil {
		c.refuse(r.ID, protocol.CodeNoSession, "session %s is not open", codec.Excerpt(p.Session))
		return
	}
	d := protocol.SendData{ClientMessageID: c.Options.ID("acp")}
	var err *protocol.Error
	if d.Text, d.Parts, err = decodePrompt(p.Prompt); err != nil {
		c.fail(r.ID, errorOf(err))
		return
	}
	sent := &prompt{request: r.ID, sent: d.ClientMessageID}
	s.prompts = append(s.prompts, sent)
	c.Request(protocol.DoSend, s.Session, d.ClientMessageID, d, func(a protocol.Answer) {
		r, err := codec.DecodeResult[protocol.SendResult](a)
		if err != nil {
			c.removePrompt(s, sent)
			c.endPrompt(sent, "", err)
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
			c.takeBack(s, sent)
		}
	})
}

func (c *Conn) removePrompt(s *session, p *prompt) {
	s.prompts = slices.DeleteFunc(s.prompts, func(other *prompt) bool { return other == p })
}

// endPrompt answers a prompt that has no answer yet.
func (c *Conn) endPrompt(p *prompt, reason string, err *protocol.Error) {
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

// cancel takes back the prompts of this client: those in the queue are removed, and a turn that one
// of them began is interrupted. Turns of others continue.
func (c *Conn) cancel(s *session) {
	for _, p := range slices.Backward(s.prompts) { // else the end of a turn would start the next message
		p.canceled = true
		if p.message != "" {
			c.takeBack(s, p)
		}
	}
}

// cancelPrompt takes back the prompt of one request.
func (c *Conn) cancelPrompt(id json.RawMessage) {
	for _, s := range c.sessions {
		for _, p := range s.prompts {
			if len(p.request) > 0 && string(p.request) == string(id) {
				p.canceled = true
				if p.message != "" {
					c.takeBack(s, p)
				}
			}
		}
	}
}

// takeBack takes back a prompt. Events report what became of it.
func (c *Conn) takeBack(s *session, p *prompt) {
	key := c.Options.ID("acp")
	if p.turn == "" {
		c.Request(protocol.DoQueueRemove, s.Session, key, protocol.QueueRemoveData{MessageID: p.message}, nil)
		return
	}
	if t := s.State.Turn; t != nil && t.Turn == p.turn && t.Message.ClientMessageID != p.sent {
		return // it joined a turn of another user
	}
	c.Request(protocol.DoInterrupt, s.Session, key, protocol.InterruptData{Turn: p.turn}, nil)
}

// startPrompt notes the turn of a message, if it is a prompt of this client. It returns the prompt,
// or nil.
func (c *Conn) startPrompt(s *session, m *protocol.Message, turn string) *prompt {
	for _, p := range s.prompts {
		if m.ClientMessageID == p.sent {
			p.turn = turn
			p.message = m.MessageID
			if p.canceled {
				c.takeBack(s, p)
			}
			return p
		}
	}
	return nil
}

// dropPrompt ends a prompt whose message was removed from the queue.
func (c *Conn) dropPrompt(s *session, d *protocol.QueueRemovedData) {
	if d.Reason != protocol.RemovedUser && d.Reason != protocol.RemovedCleared {
		return
	}
	for _, p := range s.prompts {
		if p.message == d.MessageID {
			c.removePrompt(s, p)
			c.endPrompt(p, "cancelled", nil)
			return
		}
	}
}

// endPrompts ends the prompts of a turn.
func (c *Conn) endPrompts(s *session, turn string, d *protocol.TurnEndedData) {
	reason, err := stopReason(d)
	for _, p := range slices.Clone(s.prompts) {
		if p.turn == turn {
			c.removePrompt(s, p)
			c.endPrompt(p, reason, err)
		}
	}
}

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
