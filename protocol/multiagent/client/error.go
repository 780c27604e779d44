package client

import (
	"time"

	"agentctl/protocol"
	"agentctl/protocol/codec"
	"agentctl/protocol/multiagent/wire"
)

// handleError handles an error of the server. It fails the request that the error most likely
// answers, or else ends the turn.
func (s *session) handleError(code, message string, data []byte) {
	s.turns.quietAt = time.Time{}
	switch code {
	case wire.CodeCancelled:
		s.handleCancelled(message == wire.CancelledByDenial)
		return
	case wire.CodeRejected, wire.CodeExecuteFailed, wire.CodeRejectFailed:
		if req := s.requests.decision(code); req != nil && s.requests.remove(req) {
			if s.approvals.refuse(req, code, message) {
				s.failTurn(code, message)
			}
			return
		}
	case wire.CodeStreamError, wire.CodeRequestFailed:
		if req := s.requests.unanswered(); req != nil && req.verb == protocol.DoSend && req.key == "" {
			s.failRequest(req, code, message)
			return
		}
		if s.turns.current != nil {
			s.failTurn(code, message)
			return
		}
	}
	turn := s.turns.current
	switch req := s.requests.unanswered(); {
	case req != nil && (code != wire.CodeStreamError || req.key == ""):
		s.failRequest(req, code, message)
	case code == wire.CodeRejected && s.turns.resolutions.lastDenied(): // reported already
	case code == wire.CodeRejected, code == wire.CodeRejectFailed,
		turn != nil && code == wire.CodeExecuteFailed && !turn.isToolRequest: // the turn continues
		s.recordUnrelated(message, data)
	case turn != nil:
		s.failTurn(code, message)
	default:
		s.recordUnrelated(message, data)
	}
}

// recordUnrelated records an error that answers no request and ends no turn as a notice.
func (s *session) recordUnrelated(message string, data []byte) {
	if message == "" {
		s.recordRaw(wire.TypeError, data)
		return
	}
	s.log.notify(s.turns.id(), protocol.LevelWarning, message)
}

// failRequest fails a request with an error of the server.
func (s *session) failRequest(req *request, code, message string) {
	if !s.requests.remove(req) {
		return
	}
	missing := protocol.CodeNoSession
	switch req.verb {
	case protocol.DoApprove:
		missing = protocol.CodeNotFound
	case protocol.DoInterrupt:
		if code == wire.CodeNotFound { // no stream is active at the server
			s.endWithoutStream(req, message)
			return
		}
	}
	s.x.fail(req.command, nativeError(code, message, missing))
	s.outbox.sendNext()
}

// endWithoutStream answers an interrupt of a turn that has no stream at the server. A tool request
// never has one: it ends here, and stays pending at the server.
func (s *session) endWithoutStream(req *request, message string) {
	var r protocol.InterruptResult
	if turn := s.turns.current; turn != nil && (req.turn == "" || req.turn == turn.id) {
		s.log.record(queueOf(s.log.State, s.x).afterInterrupt(req.queue)...)
		ended := protocol.TurnEndedData{
			Reason: protocol.ReasonError, Code: protocol.CodeAgentFailed, Message: message,
		}
		if turn.isToolRequest && len(s.log.State.Approvals) > 0 {
			r = protocol.InterruptResult{Interrupted: true, Turn: turn.id}
			ended = protocol.TurnEndedData{
				Reason: protocol.ReasonInterrupted, Message: "the tool request stays pending at the server",
			}
		}
		s.log.record(s.turns.end(s.x.Now, s.log.State, ended)...)
	}
	s.x.answerOnce(req.command, r)
	s.outbox.sendNext()
}

// failTurn ends the turn with an error.
func (s *session) failTurn(code, message string) {
	e := nativeError(code, message, protocol.CodeNoSession)
	raised := protocol.ErrorData{Kind: protocol.ErrorKindExecution, Code: e.Code, Message: e.Message}
	if code != "" {
		raised.Details = map[string]string{"code": code}
	}
	s.log.record(codec.Entry{Type: protocol.ErrorRaised, Turn: s.turns.id(), Data: raised})
	failed := protocol.TurnEndedData{Reason: protocol.ReasonError, Code: e.Code, Message: e.Message}
	s.log.record(s.turns.end(s.x.Now, s.log.State, failed)...)
	s.outbox.sendNext()
}

// handleCancelled ends the turn, which a denial may have ended. It ignores the second report of the
// real system.
func (s *session) handleCancelled(denied bool) {
	if s.turns.cancelSeen {
		return
	}
	s.turns.cancelSeen = true
	s.outbox.startAnsweredTurn()
	r := protocol.InterruptResult{Interrupted: true, Turn: s.turns.id()}
	interrupts := s.requests.takeAll(protocol.DoInterrupt)
	for _, req := range interrupts {
		s.log.record(queueOf(s.log.State, s.x).afterInterrupt(req.queue)...)
	}
	if turn := s.turns.current; turn != nil {
		ended := protocol.TurnEndedData{Reason: protocol.ReasonInterrupted}
		if turn.stopped || denied {
			ended.Reason = protocol.ReasonDenied
		}
		s.log.record(s.turns.end(s.x.Now, s.log.State, ended)...)
	}
	for _, req := range interrupts {
		s.x.answerOnce(req.command, r)
	}
	seen := s.turns.cancelSeen
	s.outbox.sendNext()
	s.turns.cancelSeen = seen // also after the next message was sent, because nothing was received yet
}

// nativeError converts an error of the protocol. missing is the code for not_found.
func nativeError(code, message string, missing protocol.Code) *protocol.Error {
	if message == "" {
		message = "the server gave no reason"
	}
	e := &protocol.Error{Code: protocol.CodeAgentFailed, Message: message}
	switch code {
	case wire.CodeBadRequest:
		e.Code = protocol.CodeInvalidMessage
	case wire.CodeForbidden:
		e.Code = protocol.CodeForbidden
	case wire.CodeNotFound:
		e.Code = missing
	case wire.CodeNotConfigured:
		e.Code = protocol.CodeNoAgent
	}
	return e
}
