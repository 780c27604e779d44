package main

import "agentctl/protocol"

// approvalFault says that a session waits for a person's decision.
func approvalFault(s *protocol.State) error {
	a := &s.Approvals[0]
	session := name(s)
	return faultf(exitNeedsPerson, codeNeedsPerson, "a decision is needed: %s", approvalLine(a)).
		hinting("agentctl approve %s %s, or deny", session, a.Request)
}

// heldFault says that a session's queue waits for a person.
func heldFault(s *protocol.State, h *protocol.Hold) error {
	return faultf(exitNeedsPerson, codeNeedsPerson, "the queue is held: %s by %s", h.Reason, actor(h.By)).
		hinting("agentctl queue release %s", name(s))
}

// turnFault is how a turn's end leaves the program: nil when it completed.
func turnFault(end *protocol.TurnEndedData) error {
	what := string(end.Reason)
	switch {
	case end.Message != "" && end.Reason == protocol.ReasonError:
		what = end.Message
	case end.Message != "":
		what += ": " + end.Message
	}
	switch {
	case end.Reason == protocol.ReasonCompleted:
		return nil
	case end.Failed():
		code := end.Code
		if code == "" {
			code = codeTurnFailed
		}
		return faultf(exitTurnFailed, code, "the turn failed: %s", what)
	}
	return faultf(exitInterrupted, codeInterrupted, "the turn was ended: %s", what)
}

// name is what a person calls a session.
func name(s *protocol.State) string {
	if s.Name != "" {
		return oneLine(s.Name, 0)
	}
	return s.Session
}
