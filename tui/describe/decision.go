package describe

import (
	"fmt"
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

// Rule returns the subject of a rule: a command without its directory, or the paths of a patch.
func Rule(r *protocol.Rule) string {
	parts := strings.Split(r.Subject, "\x00")
	if r.Kind == protocol.ApproveCommand && len(parts) > 1 {
		return "$ " + strings.Join(parts[1:], " ")
	}
	return strings.Join(parts, ", ")
}
