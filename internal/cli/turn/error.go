package turn

import (
	"slices"
	"strings"

	"agentctl/internal/exit"
	"agentctl/internal/output"
	"agentctl/protocol"
	"agentctl/tui/describe"
)

// ApprovalNeeded returns the error of a verb that cannot continue before the first pending approval
// of s is decided.
func ApprovalNeeded(s *protocol.State) *exit.Error {
	a := &s.Approvals[0]
	e := exit.Errorf(exit.NeedsPerson, exit.CodeNeedsPerson, "approval needed: %s", output.Approval(a))
	offers := func(d protocol.Decision) bool {
		return slices.ContainsFunc(a.Options, func(o protocol.Option) bool { return o.Kind == d })
	}
	subject := output.Session(s) + " " + a.Request
	switch allow, deny := offers(protocol.AllowOnce), offers(protocol.Deny); {
	case allow && deny:
		return e.WithHint("agentctl approve %s, or deny", subject).Needs(protocol.DoApprove)
	case allow:
		return e.WithHint("agentctl approve %s", subject).Needs(protocol.DoApprove)
	case deny:
		return e.WithHint("agentctl deny %s", subject).Needs(protocol.DoApprove)
	}
	return e
}

// QueueHeld returns the error of a verb that cannot continue before the hold h of s is released.
func QueueHeld(s *protocol.State, h *protocol.Hold) error {
	return exit.Errorf(exit.NeedsPerson, exit.CodeNeedsPerson, "the queue is %s", describe.Hold(h, output.LocalTime)).
		WithHint("agentctl queue release %s", output.Session(s)).Needs(protocol.DoQueueRelease)
}

// failure returns the error of a turn's end, or nil if the turn completed.
func failure(end *protocol.TurnEndedData) error {
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

// decidesInTime reports whether a policy file ends all pending requests.
func decidesInTime(s *protocol.State) bool {
	return strings.HasPrefix(s.Policy(), protocol.PolicyFilePrefix) &&
		!slices.ContainsFunc(s.Approvals, func(a protocol.Approval) bool { return a.Expires == nil })
}
