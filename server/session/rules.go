package session

import (
	"slices"
	"strings"

	"agentctl/protocol"
)

// applyRule allows the pending requests that match a new rule.
func (s *Session) applyRule(rule *protocol.Rule) {
	for _, p := range slices.Clone(s.state.Approvals) {
		if p.Kind == rule.Kind && p.Subject() == rule.Subject {
			s.resolve(p.Request, rule.By, protocol.ApprovalResolvedData{
				Request: p.Request, Outcome: protocol.Allowed, Decision: protocol.AllowAlways, ByRule: rule.ID,
			})
		}
	}
}

// scopeOf describes the scope of allow_always for a request; empty when it is not offered.
func scopeOf(a *protocol.Approval) string {
	if a.Subject() == "" {
		return ""
	}
	switch a.Kind {
	case protocol.ApproveCommand:
		if a.CWD == "" {
			return "exactly this command, in this session"
		}
		return "exactly this command in " + a.CWD + ", in this session"
	case protocol.ApproveTool:
		return "every use of the tool " + a.Name + ", in this session"
	default:
		return "every patch of exactly these files, in this session: " + strings.Join(a.Paths, ", ")
	}
}

func (s *Session) rulesList(*command, *protocol.Empty) (any, error) {
	return protocol.RulesResult{Rules: append([]protocol.Rule{}, s.state.Rules...)}, nil
}

func (s *Session) rulesRevoke(cmd *command, d *protocol.RulesRevokeData) (any, error) {
	if !slices.ContainsFunc(s.state.Rules, func(r protocol.Rule) bool { return r.ID == d.Rule }) {
		return nil, protocol.Errorf(protocol.CodeNotFound, "there is no rule %.80q", d.Rule)
	}
	s.record(protocol.SessionUpdated, &cmd.by, protocol.SessionUpdatedData{Revoked: d.Rule})
	return protocol.Empty{}, nil
}
