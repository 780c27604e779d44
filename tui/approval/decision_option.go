package approval

import (
	"slices"
	"strings"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// decisionOption is an option of a request.
type decisionOption struct {
	protocol.Option
	revise bool // denies and asks for a new plan
}

// optionsOf returns the options of a request. A plan that can be denied has one more option: to
// revise it.
func optionsOf(r *protocol.Approval) []decisionOption {
	var out []decisionOption
	for _, o := range r.Offered() {
		out = append(out, decisionOption{Option: o})
	}
	if r.Kind == protocol.ApprovePlan && r.Offers(protocol.Deny) {
		out = append(out, decisionOption{protocol.Option{Kind: protocol.Deny, Label: "Revise with reason"}, true})
	}
	return out
}

// allows reports whether the option allows the request.
func (o *decisionOption) allows() bool {
	return o.Kind == protocol.AllowOnce || o.Kind == protocol.AllowAlways
}

// name returns agentctl's name of the option. The agent's label is not a name: it may name another
// decision.
func (o *decisionOption) name(asks bool) string {
	switch {
	case o.revise:
		return "Revise with reason"
	case asks && o.Kind == protocol.AllowOnce:
		return "Answer"
	case asks && o.Kind == protocol.Deny:
		return "Skip"
	case asks && o.Kind == protocol.DenyStop:
		return "Skip and stop the turn"
	}
	return map[protocol.Decision]string{
		protocol.AllowOnce:   "Allow once",
		protocol.AllowAlways: "Always allow",
		protocol.Deny:        "Deny",
		protocol.DenyStop:    "Deny and stop the turn",
		protocol.Explain:     "Explain first",
	}[o.Kind]
}

// commonLabels are labels that say no more than the names of the options, by decision.
var commonLabels = map[protocol.Decision][]string{
	protocol.AllowOnce:   {"allow once", "allow", "answer", "yes", "apply", "approve", "proceed"},
	protocol.AllowAlways: {"always allow", "allow always", "always"},
	protocol.Deny:        {"deny", "reject", "skip", "no", "revise with reason"},
	protocol.DenyStop:    {"deny and stop", "deny and stop the turn"},
	protocol.Explain:     {"explain", "explain first"},
}

// agentLabel returns the agent's label on one line, or "" if it says no more than the name.
func (o *decisionOption) agentLabel() string {
	label := strings.TrimSpace(format.JoinLines(transcript.Reveal(o.Label)))
	if slices.Contains(commonLabels[o.Kind], strings.ToLower(label)) {
		return ""
	}
	return label
}

// nameOf returns the name of the first option of a kind.
func (f *Form) nameOf(kind protocol.Decision) string {
	return f.optionOfKind(kind).name(len(f.questions) > 0)
}
