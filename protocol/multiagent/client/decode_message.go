package client

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/multiagent/wire"
)

// handleMessage handles a message of the server.
func (c *Conn) handleMessage(data []byte) {
	m := wire.DecodeMessage(data)
	kind := m.Type()
	switch kind {
	case wire.TypePong:
		c.handlePong()
		return
	case wire.TypeStarted:
		c.handleStarted(m)
		return
	case wire.TypeError:
		c.handleError(m, data)
		return
	}
	id := m.Conversation()
	s := c.sessionByID(id)
	if s == nil {
		if id == "" {
			c.recordRaw(c.lastSession, kind, data)
		}
		return // of a conversation that no client follows: no log keeps it
	}
	s.turnDeadline = time.Time{}
	b := m.Payload()
	switch kind {
	case wire.TypeChunk:
		c.appendText(s, b.Name("messageId"), b.Name("agentName"), b.Text("chunk"))
	case wire.TypeComplete:
		c.handleComplete(s, b)
	case wire.TypeApprovalRequired:
		c.handleApprovalRequest(s, b, data)
	case wire.TypeExecuted:
		c.handleToolExecuted(s, b)
	case wire.TypeThought:
		c.handleThought(s, b)
	case wire.TypeAnswer:
		c.handleAnswer(s, m.Request(), data)
	case wire.TypeSelected:
		if name := b.Name("agent_name"); name != "" {
			s.agent = name
			c.record(s, protocol.SessionUpdated, nil, protocol.SessionUpdatedData{Agent: &name})
			return
		}
		c.recordRaw(s, kind, data)
	default:
		c.recordRaw(s, kind, data)
	}
}

// handleError handles an error. It fails the request that the error most likely answers, or else
// ends the turn.
func (c *Conn) handleError(m wire.Message, data []byte) {
	b := m.Payload()
	code, message := b.Name("code"), clipText(b.Text("message"))
	if message == "" {
		message = clipText(m.Text("error"))
	}
	id := m.Conversation()
	s := c.sessionByID(id)
	if s == nil {
		if len(c.creating) > 0 {
			created := c.creating[0]
			c.creating = c.creating[1:]
			if code == wire.CodeNotFound && !c.Options.PeerIsAgentctl {
				c.readDomains(created)
				return
			}
			c.Fail(created.command, nativeError(code, message, protocol.CodeNoAgent))
			return
		}
		if id == "" {
			s = c.likelySession()
		}
	}
	if s == nil {
		c.recordUnrelated(c.lastSession, message, data)
		return
	}
	s.turnDeadline = time.Time{}
	switch code {
	case wire.CodeCancelled:
		c.handleCancelled(s)
		return
	case wire.CodeRejected, wire.CodeExecuteFailed, wire.CodeRejectFailed:
		if req := s.findDecision(code); req != nil && s.removeRequest(req) {
			c.handleApproveError(s, req, code, message)
			return
		}
	case wire.CodeStreamError, wire.CodeRequestFailed:
		if req := s.findUnanswered(); req != nil && req.verb == protocol.DoSend && req.key == "" {
			c.failRequest(s, req, code, message)
			return
		}
		if s.turn != nil {
			c.failTurn(s, code, message)
			return
		}
	}
	switch req := s.findUnanswered(); {
	case req != nil && (code != wire.CodeStreamError || req.key == ""):
		c.failRequest(s, req, code, message)
	case code == wire.CodeRejected && s.lastRejected(): // reported already
	case code == wire.CodeRejected, code == wire.CodeRejectFailed,
		s.turn != nil && code == wire.CodeExecuteFailed && !s.turn.isToolRequest: // the turn goes on
		c.recordUnrelated(s, message, data)
	case s.turn != nil:
		c.failTurn(s, code, message)
	default:
		c.recordUnrelated(s, message, data)
	}
}

// recordUnrelated records an error that answers no request and ends no turn as a notice.
func (c *Conn) recordUnrelated(s *session, message string, data []byte) {
	if s == nil || message == "" {
		c.recordRaw(s, wire.TypeError, data)
		return
	}
	c.record(s, protocol.Notice, nil, protocol.NoticeData{Level: protocol.LevelWarning, Message: message})
}

// findDecision returns the first decision of which an error with a code tells, or nil.
func (s *session) findDecision(code string) *request {
	for _, req := range s.requests {
		if req.verb == protocol.DoApprove && denies(req.decision) == (code != wire.CodeExecuteFailed) {
			return req
		}
	}
	return nil
}

// lastRejected reports whether the newest decision was a rejection.
func (s *session) lastRejected() bool {
	w, ok := s.decisions.Get(s.lastDecided)
	return ok && w.Outcome == protocol.Denied
}

// likelySession returns the session that an error without a conversation most likely concerns: one
// with a pending request, or the only one with a turn.
func (c *Conn) likelySession() *session {
	var found *session
	for _, s := range c.resume.sessions {
		if len(s.requests) > 0 {
			return s
		}
		if s.turn != nil {
			if found != nil {
				return nil
			}
			found = s
		}
	}
	return found
}

// failRequest fails a request with an error of the server.
func (c *Conn) failRequest(s *session, req *request, code, message string) {
	if !s.removeRequest(req) {
		return
	}
	missing := protocol.CodeNoSession
	switch req.verb {
	case protocol.DoApprove:
		missing = protocol.CodeNotFound
	case protocol.DoInterrupt:
		if code == wire.CodeNotFound { // no stream is active at the server
			c.endWithoutStream(s, req, message)
			return
		}
	}
	c.fail(req.command, nativeError(code, message, missing))
	c.sendNext(s)
}

// endWithoutStream answers an interrupt of a turn that has no stream at the server. A tool request
// never has one: it ends here, and stays pending at the server.
func (c *Conn) endWithoutStream(s *session, req *request, message string) {
	var r protocol.InterruptResult
	if s.turn != nil && (req.turn == "" || req.turn == s.turn.id) {
		c.applyQueueMode(s, req.queue)
		if s.turn.isToolRequest && len(s.log.State.Approvals) > 0 {
			r = protocol.InterruptResult{Interrupted: true, Turn: s.turn.id}
			c.endTurn(s, protocol.TurnEndedData{
				Reason: protocol.ReasonInterrupted, Message: "the tool request stays pending at the server",
			})
		} else {
			c.endTurn(s, protocol.TurnEndedData{
				Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: message,
			})
		}
	}
	c.answerOnce(req.command, r)
	c.sendNext(s)
}

// failTurn ends the turn with an error.
func (c *Conn) failTurn(s *session, code, message string) {
	e := nativeError(code, message, protocol.CodeNoSession)
	c.record(s, protocol.ErrorRaised, nil, protocol.ErrorData{
		Kind: protocol.ErrorKindExecution, Code: e.Code, Message: e.Message, Details: errorDetails(code),
	})
	c.endTurn(s, protocol.TurnEndedData{Reason: protocol.ReasonError, Code: e.Code, Message: e.Message})
	c.sendNext(s)
}

func errorDetails(code string) map[string]string {
	if code == "" {
		return nil
	}
	return map[string]string{"code": code}
}

// handleCancelled ends the turn. It ignores the second report of the real system.
func (c *Conn) handleCancelled(s *session) {
	if s.cancelSeen {
		return
	}
	s.cancelSeen = true
	c.startAnsweredTurn(s)
	r := protocol.InterruptResult{Interrupted: true}
	if s.turn != nil {
		r.Turn = s.turn.id
	}
	var interrupts []*request
	for req := s.findRequest(protocol.DoInterrupt); req != nil; req = s.findRequest(protocol.DoInterrupt) {
		s.removeRequest(req)
		c.applyQueueMode(s, req.queue)
		interrupts = append(interrupts, req)
	}
	if s.turn != nil {
		why := protocol.ReasonInterrupted
		if s.turn.stopped {
			why = protocol.ReasonDenied
		}
		c.endTurn(s, protocol.TurnEndedData{Reason: why})
	}
	for _, req := range interrupts {
		c.answerOnce(req.command, r)
	}
	seen := s.cancelSeen
	c.sendNext(s)
	s.cancelSeen = seen // also after the next message was sent, because nothing was received yet
}
