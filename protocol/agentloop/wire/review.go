package wire

import (
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
