package approval

import (
	"slices"

	"agentctl/protocol"
	"agentctl/server/session/record"
)

// newRule returns the rule that allows such requests from now on; nil if it exists already. For a
// request that no rule can match the error has the code unsupported.
func newRule(st *protocol.State, a *protocol.Approval, c *Caller) (*protocol.Rule, error) {
	if a.Subject() == "" || !a.Offers(protocol.AllowAlways) {
		return nil, protocol.Errorf(protocol.CodeUnsupported,
			"a %s request cannot be allowed always: allow it once", a.Kind)
	}
	if st.RuleFor(a) != nil {
		return nil, nil
	}
	rule := &protocol.Rule{
		ID: c.RuleID, Kind: a.Kind, Subject: a.Subject(), Scope: a.Scope(), By: c.By, At: record.Time(c.Now),
	}
	rules, l := append(slices.Clip(st.Rules), *rule), c.Limits
	switch {
	case len(rules) > l.Rules:
		return nil, protocol.Exceeded(protocol.CodeTooMany, l.Rules,
			"the session has too many rules: revoke some, or allow this request once")
	case record.Size(rules, l.Bytes) > l.Bytes:
		return nil, protocol.Exceeded(protocol.CodeTooLarge, l.Bytes,
			"the rules of the session are too large together: revoke some, or allow this request once")
	}
	return rule, nil
}

// AllowedBy returns the resolutions of the pending requests that a new rule matches.
func AllowedBy(st *protocol.State, rule *protocol.Rule) (list []Resolution) {
	for i := range st.Approvals {
		a := &st.Approvals[i]
		if found := st.RuleFor(a); found != nil && found.ID == rule.ID {
			list = append(list, byRule(st, a.Request, rule))
		}
	}
	return list
}

// Revoke returns the event that revokes a rule. An unknown one has the code not_found.
func Revoke(st *protocol.State, by *protocol.Actor, rule string) (record.Event, error) {
	if !slices.ContainsFunc(st.Rules, func(r protocol.Rule) bool { return r.ID == rule }) {
		return record.Event{}, protocol.Errorf(protocol.CodeNotFound, "there is no rule %.80q", rule)
	}
	return record.Event{Type: protocol.SessionUpdated, By: by, Data: protocol.SessionUpdatedData{Revoked: rule}}, nil
}
