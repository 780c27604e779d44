package multiagent

import (
	"encoding/json"
	"fmt"

	"agentctl/protocol"
)

// message takes a message of the client.
func (s *Server) message(h heard) {
	switch kind := h.kind(); kind {
	case typePing:
		s.say(frame{Type: typePong})
		if id := h.conversation(); id != "" { // a client of our kind takes it up
			s.with(id, func(*conversation) {})
		}
	case typeStart:
		s.start(h)
	case typeSend:
		s.send(h)
	case typeCancel:
		s.cancel(h)
	case typeApprove:
		s.approve(h)
	case "":
		s.fail("", badRequest, "a message is a JSON object with a type")
	default:
		s.fail(h.conversation(), badRequest, "Unknown event type: "+kind)
	}
}

// allowed reports whether the client may have a command carried out, and tells it when not.
func (s *Server) allowed(verb protocol.Verb, conversation string) bool {
	if s.door.Role.May(verb) {
		return true
	}
	s.fail(conversation, forbidden, fmt.Sprintf("the role %s may not do that", s.door.Role))
	return false
}

// start makes a session for a domain.
func (s *Server) start(h heard) {
	d := h.body().word("domainId")
	if d == "" {
		s.fail("", badRequest, "domainId is required")
		return
	}
	if !s.allowed(protocol.DoCreate, "") {
		return
	}
	create := protocol.CreateData{Agent: s.door.Agent(d)}
	s.ask(protocol.DoCreate, "", create, func(a protocol.Answer) {
		var made protocol.CreateResult
		if a.Error == nil && json.Unmarshal(a.Result, &made) != nil {
			a.Error = protocol.Errorf(protocol.CodeInternal, "the conversation could not be started")
		}
		if a.Error != nil {
			s.fail("", foreign(a.Error.Code, streamError), a.Error.Message)
			return
		}
		s.with(made.Session, func(c *conversation) {
			s.say(frame{Type: typeStarted, Payload: started{Conversation: c.id, Domain: d, Agent: c.agent}})
		})
	})
}

// named returns the conversation that a message names; empty when that is missing, which the client is told.
func (s *Server) named(h heard) string {
	id := h.conversation()
	if id == "" {
		s.fail("", badRequest, "conversationId is required")
	}
	return id
}

func (s *Server) send(h heard) {
	id := s.named(h)
	if id == "" {
		return
	}
	body := h.body()
	text := body.text("content")
	if text == "" {
		s.fail(id, badRequest, "content is required")
		return
	}
	if !s.allowed(protocol.DoSend, id) {
		return
	}
	thinking, _ := body.flag("enableThinking")
	data := protocol.SendData{Text: text, ClientMessageID: h.word("requestId")}
	s.with(id, func(c *conversation) {
		c.thinking = thinking
		s.ask(protocol.DoSend, c.session, data, func(a protocol.Answer) {
			var r protocol.SendResult
			switch {
			case a.Error != nil:
				s.fail(c.id, foreign(a.Error.Code, streamError), a.Error.Message)
			case json.Unmarshal(a.Result, &r) == nil && r.Status == protocol.SendQueued:
				why := "queued: it comes next"
				if r.Index != nil && *r.Index > 0 {
					why = fmt.Sprintf("queued behind %d others", *r.Index)
				}
				s.say(frame{Type: typeThought, Payload: thought{ID: queueAgent, Agent: queueAgent, Conversation: c.id, Reason: why}})
			}
		})
	})
}

// queueAgent is who says in workflow_thought that a message waits: the dialect has no word of its own for that.
const queueAgent = "queue"

func (s *Server) cancel(h heard) {
	id := s.named(h)
	if id == "" || !s.allowed(protocol.DoInterrupt, id) {
		return
	}
	s.with(id, func(c *conversation) {
		s.ask(protocol.DoInterrupt, c.session, protocol.InterruptData{}, func(a protocol.Answer) {
			var r protocol.InterruptResult
			switch {
			case a.Error != nil:
				s.fail(c.id, foreign(a.Error.Code, streamError), a.Error.Message)
			case json.Unmarshal(a.Result, &r) != nil || !r.Interrupted:
				s.fail(c.id, notFound, "No active stream")
			}
		})
	})
}

func (s *Server) approve(h heard) {
	id := s.named(h)
	if id == "" {
		return
	}
	body := h.body()
	request := h.request()
	approved, said := body.flag("approved")
	switch {
	case request == "":
		s.fail(id, badRequest, "requestId is required")
		return
	case !said:
		s.fail(id, badRequest, "approved is required")
		return
	case !s.allowed(protocol.DoApprove, id):
		return
	}
	data := protocol.ApproveData{Request: request, Decision: protocol.AllowOnce, Reason: body.text("reason")}
	failed := executeFailed
	if !approved {
		data.Decision, failed = protocol.Deny, rejectFailed
	}
	s.with(id, func(c *conversation) {
		s.ask(protocol.DoApprove, c.session, data, func(a protocol.Answer) {
			switch {
			case a.Error != nil:
				s.fail(c.id, foreign(a.Error.Code, failed), a.Error.Message)
			case !approved:
				why := data.Reason
				if why == "" {
					why = "Tool execution rejected"
				}
				s.fail(c.id, rejected, why)
			}
		})
	})
}
