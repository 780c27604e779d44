package multiagent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// handleMessage executes a message of the client.
func (s *server) handleMessage(m message) {
	switch kind := m.messageType(); kind {
	case typePing:
		s.send(frame{Type: typePong})
		if id := m.conversation(); id != "" { // agentctl's client requests updates this way
			s.withConversation(id, func(*conversation) {})
		}
	case typeStart:
		s.handleStart(m)
	case typeSend:
		s.handleSend(m)
	case typeCancel:
		s.handleCancel(m)
	case typeApprove:
		s.handleApprove(m)
	case "":
		s.sendError("", badRequest, "a message is a JSON object with a type")
	default:
		if !s.handleLegacy(kind, m) {
			s.sendError("", "", "Unknown event type: "+kind)
		}
	}
}

// checkRole reports whether the client's role permits a command, and sends the error if not.
func (s *server) checkRole(verb protocol.Verb, conversation string) bool {
	if s.Options.Role.May(verb) {
		return true
	}
	s.sendError(conversation, forbidden, s.Options.Role.Refusal(verb).Message)
	return false
}

// handleStart creates a session for a domain.
func (s *server) handleStart(m message) {
	d := m.payload().name("domainId")
	if d == "" {
		s.sendError("", badRequest, "domainId is required")
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
			s.sendError("", foreignCode(err.Code, streamError), err.Message)
			return
		}
		s.withConversation(created.Session, func(c *conversation) {
			s.send(frame{
				Type: typeStarted, Payload: conversationStarted{Conversation: c.id, Domain: d, Agent: c.agent},
			})
		})
	})
}

// checkDomain reports whether the configuration has a domain, and sends the error if not. Without
// domains in the configuration, each is the default agent.
func (s *server) checkDomain(domain string) bool {
	known := s.Options.AgentNames
	if len(known) == 0 || slices.Contains(known, domain) {
		return true
	}
	s.sendError("", notFound, fmt.Sprintf("Unknown domainId %q: want one of %s", domain, strings.Join(known, ", ")))
	return false
}

// requireConversation returns the conversationId of a message. If it is missing, it sends an error
// and returns "".
func (s *server) requireConversation(m message) string {
	id := m.conversation()
	if id == "" {
		s.sendError("", badRequest, "conversationId is required")
	}
	return id
}

func (s *server) handleSend(m message) {
	id := s.requireConversation(m)
	if id == "" {
		return
	}
	body := m.payload()
	text := body.text("content")
	if text == "" {
		s.sendError(id, badRequest, "content is required")
		return
	}
	if !s.checkRole(protocol.DoSend, id) {
		return
	}
	thinking, _ := body.flag("enableThinking")
	data := protocol.SendData{Text: text, ClientMessageID: m.name("requestId")}
	key := m.key()
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
				s.sendError(c.id, foreignCode(err.Code, streamError), err.Message)
			case r.Status == protocol.SendQueued:
				why := "queued: it comes next"
				if r.Index != nil && *r.Index > 0 {
					why = fmt.Sprintf("queued behind %d others", *r.Index)
				}
				s.send(frame{
					Type:    typeThought,
					Payload: workflowThought{ID: queueAgent, Agent: queueAgent, Conversation: c.id, Reason: why},
				})
			}
		})
	})
}

// queueAgent is the agent name of a workflow_thought that reports a queued message. The protocol
// has no message for it.
const queueAgent = "queue"

func (s *server) handleCancel(m message) {
	id := m.conversation()
	switch {
	case id == "":
		s.sendError("", notFound, noStream)
		return
	case !s.checkRole(protocol.DoInterrupt, id):
		return
	}
	s.withConversation(id, func(c *conversation) {
		s.sendCommand(protocol.DoInterrupt, c.session, protocol.InterruptData{}, func(a protocol.Answer) {
			r, err := codec.DecodeResult[protocol.InterruptResult](a)
			switch {
			case err != nil:
				s.sendError(c.id, foreignCode(err.Code, streamError), err.Message)
			case !r.Interrupted:
				s.sendError(c.id, notFound, noStream)
			}
		})
	})
}

// refuseDecision refuses a decision that the role does not permit. Like the real system, it looks
// for the request first.
func (s *server) refuseDecision(c *conversation, request string) {
	if !slices.ContainsFunc(c.approvals, func(r *openApproval) bool { return r.id == request }) {
		s.sendError(c.id, notFound, unknownRequest)
		return
	}
	s.checkRole(protocol.DoApprove, c.id)
}

const unknownRequest = "Unknown requestId"

// noStream is the message of the real system's not_found error to cancel_stream.
const noStream = "No active stream"

func (s *server) handleApprove(m message) {
	id := s.requireConversation(m)
	if id == "" {
		return
	}
	body := m.payload()
	request := m.request()
	approved, known := body.flag("approved")
	switch {
	case request == "":
		s.sendError(id, notFound, unknownRequest)
		return
	case !known:
		s.sendError(id, badRequest, "approved is required")
		return
	case !s.Options.Role.May(protocol.DoApprove):
		s.withConversation(id, func(c *conversation) { s.refuseDecision(c, request) })
		return
	}
	data := protocol.ApproveData{Request: request, Decision: protocol.AllowOnce, Reason: body.text("reason")}
	failed := executeFailed
	if !approved {
		data.Decision, failed = protocol.Deny, rejectFailed
	}
	key := m.key()
	s.withConversation(id, func(c *conversation) {
		s.sendKeyed(protocol.DoApprove, c.session, key, data, func(a protocol.Answer) {
			switch {
			case key != "":
				s.sendAnswer(c, key, answer{Error: a.Error})
			case a.Error != nil:
				s.sendError(c.id, foreignCode(a.Error.Code, failed), a.Error.Message)
			case !approved:
				s.confirmRejection(c, request, cmp.Or(data.Reason, "Tool rejected"))
			}
		})
	})
}
