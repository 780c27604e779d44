package server

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// handleMessage executes a message of the client.
func (s *Conn) handleMessage(m wire.Message) {
	switch kind := m.Type(); kind {
	case wire.TypePing:
		s.send(wire.Frame{Type: wire.TypePong})
		if id := m.Conversation(); id != "" { // agentctl's client requests updates this way
			s.withConversation(id, func(*conversation) {})
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

// checkRole reports whether the client's role permits a command, and sends the error if not.
func (s *Conn) checkRole(verb protocol.Verb, conversation string) bool {
	if s.Options.Role.May(verb) {
		return true
	}
	s.sendError(conversation, wire.CodeForbidden, s.Options.Role.Refusal(verb).Message)
	return false
}

// handleStart creates a session for a domain.
func (s *Conn) handleStart(m wire.Message) {
	d := m.Payload().Name("domainId")
	if d == "" {
		s.sendError("", wire.CodeBadRequest, "domainId is required")
		return
	}
	if !s.checkRole(protocol.DoCreate, "") {
		return
	}
	if !s.checkDomain(d) {
		return
	}
	create := protocol.CreateData{Agent: s.Options.Agent(d)}
	s.sendCommand(protocol.DoCreate, "", create, func(a protocol.Answer) {
		created, err := codec.DecodeResult[protocol.CreateResult](a)
		if err != nil {
			s.sendError("", foreignCode(err.Code, wire.CodeStreamError), err.Message)
			return
		}
		s.withConversation(created.Session, func(c *conversation) {
			s.send(wire.Frame{
				Type: wire.TypeStarted, Payload: wire.ConversationStarted{Conversation: c.id, Domain: d, Agent: c.agent},
			})
		})
	})
}

// checkDomain reports whether the configuration has a domain, and sends the error if not. Without
// domains in the configuration, each is the default agent.
func (s *Conn) checkDomain(domain string) bool {
	known := s.Options.AgentNames
	if len(known) == 0 || slices.Contains(known, domain) {
		return true
	}
	s.sendError("", wire.CodeNotFound, fmt.Sprintf("Unknown domainId %q: want one of %s", domain, strings.Join(known, ", ")))
	return false
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
	s.withConversation(id, func(c *conversation) {
		c.thinking, c.chat = thinking, nil
		s.sendKeyed(protocol.DoSend, c.session, key, data, func(a protocol.Answer) {
			r, err := codec.DecodeResult[protocol.SendResult](a)
			if key != "" {
				s.answerSend(c, key, &r, err)
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
				s.send(wire.Frame{
					Type:    wire.TypeThought,
					Payload: wire.WorkflowThought{ID: wire.QueueAgent, Agent: wire.QueueAgent, Conversation: c.id, Reason: why},
				})
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
	s.withConversation(id, func(c *conversation) {
		s.sendCommand(protocol.DoInterrupt, c.session, protocol.InterruptData{}, func(a protocol.Answer) {
			r, err := codec.DecodeResult[protocol.InterruptResult](a)
			switch {
			case err != nil:
				s.sendError(c.id, foreignCode(err.Code, wire.CodeStreamError), err.Message)
			case !r.Interrupted:
				s.sendError(c.id, wire.CodeNotFound, noStream)
			}
		})
	})
}

// refuseDecision refuses a decision that the role does not permit. Like the real system, it looks
// for the request first.
func (s *Conn) refuseDecision(c *conversation, request string) {
	if !slices.ContainsFunc(c.approvals, func(r *openApproval) bool { return r.id == request }) {
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
		s.withConversation(id, func(c *conversation) { s.refuseDecision(c, request) })
		return
	}
	data := protocol.ApproveData{Request: request, Decision: protocol.AllowOnce, Reason: body.Text("reason")}
	failed := wire.CodeExecuteFailed
	if !approved {
		data.Decision, failed = protocol.Deny, wire.CodeRejectFailed
	}
	key := m.Key()
	s.withConversation(id, func(c *conversation) {
		s.sendKeyed(protocol.DoApprove, c.session, key, data, func(a protocol.Answer) {
			switch {
			case key != "":
				s.sendAnswer(c, key, wire.Answer{Error: a.Error})
			case a.Error != nil:
				s.sendError(c.id, foreignCode(a.Error.Code, failed), a.Error.Message)
			case !approved:
				s.confirmRejection(c, request, cmp.Or(data.Reason, "Tool rejected"))
			}
		})
	})
}
