package describe

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/ui"
)

// Outcome describes a resolved approval, like "✓ allowed · decided by ada at 12:03 · reason". a and
// when may be empty.
func Outcome(a *protocol.Approval, r *protocol.ApprovalResolvedData, by *protocol.Actor, when string) string {
	s := map[protocol.Outcome]string{
		protocol.Allowed:   "✓ allowed",
		protocol.Denied:    "✗ denied",
		protocol.Expired:   "✗ expired: no decision in time",
		protocol.Cancelled: "⊘ cancelled",
	}[r.Outcome]
	if s == "" {
		s = string(r.Outcome)
	}
	switch r.Decision {
	case protocol.AllowAlways:
		s += " always"
		if r.Rule != nil {
			s += " (" + r.Rule.Scope + ")"
		}
	case protocol.DenyStop:
		s += " and stopped"
	}
	if label := optionLabel(a, r); label != "" {
		s += " · “" + label + "”"
	}
	switch {
	case r.ByRule != "":
		s += " · by rule " + r.ByRule
		if by != nil {
			s += " of " + by.Name
		}
	case r.ByPolicy != "":
		s += " · by the policy " + r.ByPolicy
	case by != nil:
		s += fmt.Sprintf(" · decided by %s", by.Name)
	}
	s += ui.Prefixed(" at ", when)
	if r.Reason != "" {
		s += " · " + r.Reason
	}
	switch in := r.Input; {
	case in == nil:
	case in.Patch != "":
		s += " · with an edited patch"
	case in.Command != "" && (a == nil || in.Command != a.Command):
		s += " · ran instead: " + format.JoinLines(in.Command)
	}
	return s
}

// optionLabel returns the label of the chosen option of an agent, or "" if it is one of the usual
// words.
func optionLabel(a *protocol.Approval, r *protocol.ApprovalResolvedData) string {
	if a == nil || r.Option == "" {
		return ""
	}
	for _, o := range a.Options {
		if o.ID == r.Option {
			return Label(&o)
		}
	}
	return ""
}

// Label returns the agent's label of an option on one line, or "" if it says no more than the decision.
func Label(o *protocol.Option) string {
	label := strings.TrimSpace(format.JoinLines(o.Label))
	if slices.Contains(usualLabels[o.Kind], strings.ToLower(label)) {
		return ""
	}
	return label
}

// usualLabels are labels that say no more than the decision.
var usualLabels = map[protocol.Decision][]string{
	protocol.AllowOnce:   {"allow once", "allow", "answer", "opened", "yes", "apply", "approve", "proceed"},
	protocol.AllowAlways: {"always allow", "allow always", "always"},
	protocol.Deny:        {"deny", "reject", "skip", "no", "revise with reason"},
	protocol.DenyStop:    {"deny and stop", "deny and stop the turn", "skip and stop the turn"},
	protocol.Explain:     {"explain", "explain first"},
}

// decisions names the decisions, as a user takes them.
var decisions = map[protocol.Decision]string{
	protocol.AllowOnce:   "allow once",
	protocol.AllowAlways: "allow always",
	protocol.Deny:        "deny",
	protocol.DenyStop:    "deny and stop",
	protocol.Explain:     "explain",
}

// NotOffered returns the text that a request has no option of a kind, with the options that it has.
func NotOffered(r *protocol.Approval, kind protocol.Decision) string {
	var offered []string
	for _, o := range r.Offered() {
		if name := decisions[o.Kind]; name != "" && !slices.Contains(offered, name) {
			offered = append(offered, name)
		}
	}
	text := fmt.Sprintf("this request does not take “%s”; it takes: %s", decisions[kind], strings.Join(offered, ", "))
	if r.Refused != "" {
		text = r.Refused + ": " + text
	}
	return text
}

// Rule returns what a rule allows: a command without its directory, arguments, or the files of a
// patch. A rule that is not honoured is named as such.
func Rule(r *protocol.Rule) string {
	var subject struct {
		Command json.RawMessage `json:"command"`
		Input   json.RawMessage `json:"input"`
		Name    string          `json:"name"`
		Files   []string        `json:"files"`
	}
	if !r.Honoured() || json.Unmarshal([]byte(r.Subject), &subject) != nil {
		subject := strings.ReplaceAll(strings.Trim(r.Subject, "\x00"), "\x00", ", ")
		return "allows nothing, made by an earlier version: " + subject
	}
	switch {
	case len(subject.Files) > 0:
		return strings.Join(subject.Files, ", ")
	case len(subject.Input) > 0:
		return strings.TrimSpace(subject.Name + " " + string(subject.Input))
	}
	args := protocol.ReadArguments(protocol.MustEncode(map[string]json.RawMessage{"command": subject.Command}))
	command, _ := args.Command() // given as a text or as words
	return "$ " + command.Line
}
