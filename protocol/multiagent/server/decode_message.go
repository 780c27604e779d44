package server

import (
	"cmp"
	"fmt"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// handleMessage executes a message of the client.
func (s *Conn) handleMessage(m wire.Message) {
	switch kind := m.Type(); kind {
	case wire.TypePing:
		s.Send(wire.Frame{Type: wire.TypePong}.Encode())
		if id := m.Conversation(); id != "" { // agentctl's client requests updates this way
			s.conversations.with(id, func(*conversation) {})
		}
	case wire.TypeStart:
		s.handleStart(m)
	case wire.TypeSend:
		s.handleSend(m)
	case wire.TypeCancel:
		s.handleCancel(m)
	case wire.TypeApprove:
		s.handleApprove(m)
	case "":
		s.sendError("", wire.CodeBadRequest, "a message is a JSON object with a type")
	default:
		if !s.handleLegacy(kind, m) {
			s.sendError("", "", "Unknown event type: "+kind)
		}
	}
}

// handleStart creates a session for a domain.
func (s *Conn) handleStart(m wire.Message) {
	d := m.Payload().Name("domainId")
	if d == "" {
		s.sendError("", wire.CodeBadRequest, "domainId is required")
		return
	}
	s.create(d, func(session string) {
		s.conversations.with(session, func(c *conversation) {
			s.Send(wire.Frame{
				Type: wire.TypeStarted, Payload: wire.ConversationStarted{Conversation: c.id, Domain: d, Agent: c.agent},
			}.Encode())
		})
	})
}

// requireConversation returns the conversationId of a message. If it is missing, it sends an error
// and returns "".
func (s *Conn) requireConversation(m wire.Message) string {
	id := m.Conversation()
	if id == "" {
		s.sendError("", wire.CodeBadRequest, "conversationId is required")
	}
	return id
}

func (s *Conn) handleSend(m wire.Message) {
	id := s.requireConversation(m)
	if id == "" {
		return
	}
	body := m.Payload()
	text := body.Text("content")
	if text == "" {
		s.sendError(id, wire.CodeBadRequest, "content is required")
		return
	}
	if !s.checkRole(protocol.DoSend, id) {
		return
	}
	thinking, _ := body.Flag("enableThinking")
	data := protocol.SendData{Text: text, ClientMessageID: m.Name("requestId")}
	key := m.Key()
	s.conversations.with(id, func(c *conversation) {
		c.thinking, c.chat = thinking, nil
		s.command(protocol.DoSend, c.session, key, data, func(a protocol.Answer) {
			r, err := codec.DecodeResult[protocol.SendResult](a)
			if key != "" {
				s.Send(c.answerSend(key, &r, err))
			}
			switch {
			case key != "" && err != nil:
			case err != nil:
				s.sendError(c.id, foreignCode(err.Code, wire.CodeStreamError), err.Message)
			case r.Status == protocol.SendQueued:
				why := "queued: it comes next"
				if r.Index != nil && *r.Index > 0 {
					why = fmt.Sprintf("queued behind %d others", *r.Index)
				}
				s.Send(c.thought(wire.QueueAgent, why))
			}
		})
	})
}

func (s *Conn) handleCancel(m wire.Message) {
	id := m.Conversation()
	switch {
	case id == "":
		s.sendError("", wire.CodeNotFound, noStream)
		return
	case !s.checkRole(protocol.DoInterrupt, id):
		return
	}
	s.conversations.with(id, func(c *conversation) {
		request(s.exchange, protocol.DoInterrupt, c.session, protocol.InterruptData{}, c.id, func(r protocol.InterruptResult) {
			if !r.Interrupted {
				s.sendError(c.id, wire.CodeNotFound, noStream)
			}
		})
	})
}

// refuseDecision refuses a decision that the role does not permit. Like the real system, it looks
// for the request first.
func (s *Conn) refuseDecision(c *conversation, request string) {
	if c.approvals.find(request) == nil {
		s.sendError(c.id, wire.CodeNotFound, unknownRequest)
		return
	}
	s.checkRole(protocol.DoApprove, c.id)
}

const unknownRequest = "Unknown requestId"

// noStream is the message of the real system's not_found error to cancel_stream.
const noStream = "No active stream"

func (s *Conn) handleApprove(m wire.Message) {
	id := s.requireConversation(m)
	if id == "" {
		return
	}
	body := m.Payload()
	request := m.Request()
	approved, known := body.Flag("approved")
	switch {
	case request == "":
		s.sendError(id, wire.CodeNotFound, unknownRequest)
		return
	case !known:
		s.sendError(id, wire.CodeBadRequest, "approved is required")
		return
	case !s.Options.Role.May(protocol.DoApprove):
		s.conversations.with(id, func(c *conversation) { s.refuseDecision(c, request) })
		return
	}
	data := protocol.ApproveData{Request: request, Decision: protocol.AllowOnce, Reason: body.Text("reason")}
	failed := wire.CodeExecuteFailed
	if !approved {
		data.Decision, failed = protocol.Deny, wire.CodeRejectFailed
	}
	key := m.Key()
	s.conversations.with(id, func(c *conversation) {
		s.command(protocol.DoApprove, c.session, key, data, func(a protocol.Answer) {
			switch {
			case key != "":
				s.Send(c.answer(key, wire.Answer{Error: a.Error}))
			case a.Error != nil:
				s.sendError(c.id, foreignCode(a.Error.Code, failed), a.Error.Message)
			case !approved:
				s.Send(c.confirmRejection(request, cmp.Or(data.Reason, "Tool rejected"))...)
			}
		})
	})
}
