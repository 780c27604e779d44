package describe

import (
	"fmt"
	"slices"
	"strings"

	"agentctl/protocol"
)

// Outcome describes a resolved approval, like "✓ allowed · decided by ada · reason".
func Outcome(r *protocol.ApprovalResolvedData, by *protocol.Actor) string {
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
	switch {
	case r.ByRule != "":
		s += " · by rule " + r.ByRule
	case by != nil:
		s += fmt.Sprintf(" · decided by %s", by.Name)
	}
	if r.Reason != "" {
		s += " · " + r.Reason
	}
	return s
}

// decisions names the decisions, as a user takes them.
var decisions = map[protocol.Decision]string{
	protocol.AllowOnce:   "allow once",
	protocol.AllowAlways: "allow always",
	protocol.Deny:        "deny",
	protocol.DenyStop:    "deny and stop",
	protocol.Explain:     "explain",
}

// NotOffered tells that a request has no option of a kind, and which ones it has.
func NotOffered(r *protocol.Approval, kind protocol.Decision) string {
	var offered []string
	for _, o := range r.Offered() {
		if name := decisions[o.Kind]; name != "" && !slices.Contains(offered, name) {
			offered = append(offered, name)
		}
	}
	return fmt.Sprintf("this request does not take “%s”; it takes: %s", decisions[kind], strings.Join(offered, ", "))
}

// Rule returns the subject of a rule: a command without its directory, or the paths of a patch.
func Rule(r *protocol.Rule) string {
	parts := strings.Split(r.Subject, "\x00")
	if r.Kind == protocol.ApproveCommand && len(parts) > 1 {
		return "$ " + strings.Join(parts[1:], " ")
	}
	return strings.Join(parts, ", ")
}
