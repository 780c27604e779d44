package wire

import (
	"strings"

	"agentctl/protocol"
)

// EncodeDecision returns the system message for another user's decision.
// DecodeDecision is its inverse.
func EncodeDecision(e *protocol.Event, d *protocol.ApprovalResolvedData) string {
	if e.By == nil {
		return requestOver + string(d.Outcome) + "."
	}
	return decidedIntro + e.By.Name + ": " + string(d.Outcome) + "."
}

const (
	requestOver  = "The request is over: "
	decidedIntro = "Decided by "
)

// DecodeDecision is the inverse of EncodeDecision. ok is false for any other text.
func DecodeDecision(text string) (by *protocol.Actor, outcome protocol.Outcome, ok bool) {
	text, ok = strings.CutSuffix(text, ".")
	var name string
	if over, is := strings.CutPrefix(text, requestOver); is {
		outcome = protocol.Outcome(over)
	} else if decided, is := strings.CutPrefix(text, decidedIntro); is {
		at := max(0, strings.LastIndex(decided, ": "))
		name, outcome = decided[:at], protocol.Outcome(strings.TrimPrefix(decided[at:], ": "))
		by = &protocol.Actor{Name: name}
	}
	switch outcome {
	case protocol.Allowed, protocol.Denied, protocol.Expired, protocol.Cancelled:
		return by, outcome, ok
	}
	return nil, "", false
}
