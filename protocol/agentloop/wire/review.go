package wire

import (
	"strings"

	"agentctl/protocol"
)

// reviews lists the protocol's words for decisions.
var reviews = []struct {
	word     string
	decision protocol.Decision
	label    string
	scope    string
}{
	{"yes", protocol.AllowOnce, "Yes", ""},
	{"always", protocol.AllowAlways, "Always", "this command and similar ones, while the server runs"},
	{"no-continue", protocol.Deny, "No, go on without it", ""},
	{"no-exit", protocol.DenyStop, "No, and stop", ""},
	{"explain", protocol.Explain, "Explain", ""},
}

// DecisionOf returns the decision of a review; empty: unknown.
func DecisionOf(review string) protocol.Decision {
	for _, r := range reviews {
		if r.word == review {
			return r.decision
		}
	}
	return ""
}

// ReviewOf returns the review for a decision; empty: none.
func ReviewOf(d protocol.Decision) string {
	for _, r := range reviews {
		if r.decision == d {
			return r.word
		}
	}
	return ""
}

// ApprovalOptions returns the options of every approval.
func ApprovalOptions() []protocol.Option {
	list := make([]protocol.Option, len(reviews))
	for i, r := range reviews {
		list[i] = protocol.Option{ID: r.word, Kind: r.decision, Label: r.label, Scope: r.scope}
	}
	return list
}

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

// EndedByDenial is the system message before the end of a turn that a denial ended.
const EndedByDenial = "A denial ended the turn."

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
