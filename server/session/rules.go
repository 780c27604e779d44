package session

import (
	"slices"

	"agentctl/protocol"
)

// applyRule allows the pending requests that match a new rule.
func (s *Session) applyRule(rule *protocol.Rule) {
	for _, p := range slices.Clone(s.state.Approvals) {
		if found := s.state.RuleFor(&p); found != nil && found.ID == rule.ID {
			s.resolve(p.Request, rule.By, protocol.ApprovalResolvedData{
				Request: p.Request, Outcome: protocol.Allowed, Decision: protocol.AllowAlways, ByRule: rule.ID,
			})
		}
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
