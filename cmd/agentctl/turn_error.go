package main

import (
	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/describe"
)

// approvalNeeded returns the error of a verb that cannot go on before the first pending approval of
// s is decided.
func approvalNeeded(s *protocol.State) error {
	a := &s.Approvals[0]
	return exit.Errorf(exit.NeedsPerson, exit.CodeNeedsPerson, "approval needed: %s", output.Approval(a)).
		WithHint("agentctl approve %s %s, or deny", output.Session(s), a.Request)
}

// queueHeld returns the error of a verb that cannot go on before the hold h of s is released.
func queueHeld(s *protocol.State, h *protocol.Hold) error {
	return exit.Errorf(exit.NeedsPerson, exit.CodeNeedsPerson, "the queue is %s", describe.Hold(h)).
		WithHint("agentctl queue release %s", output.Session(s))
}

// turnError returns the error of a turn's end, or nil if the turn completed.
func turnError(end *protocol.TurnEndedData) error {
	text := describe.Reason(end.Reason)
	switch {
	case end.Message != "" && end.Reason == protocol.ReasonError:
		text = end.Message
	case end.Message != "":
		text += ": " + end.Message
	}
	switch {
	case end.Reason == protocol.ReasonCompleted:
		return nil
	case end.Failed():
		code := end.Code
		if code == "" {
			code = exit.CodeTurnFailed
		}
		return exit.Errorf(exit.TurnFailed, code, "the turn failed: %s", text)
	}
	return exit.Errorf(exit.Interrupted, exit.CodeInterrupted, "the turn was ended: %s", text)
}
