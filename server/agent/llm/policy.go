package llm

import (
	"cmp"

	"agentctl/protocol"
	"agentctl/server/agent/policy"
	"agentctl/server/session"
)

// policy returns the policy for calls now.
func (a *Agent) policy() policy.Policy {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.policyName()
}

// policyName returns the policy. A stored one that the configuration no longer allows is replaced
// by that of the configuration. The lock is held.
func (a *Agent) policyName() policy.Policy {
	configured := cmp.Or(a.options.Config.Policy, policy.Ask)
	p := cmp.Or(a.state.Policy, configured)
	if !p.Valid() || p == policy.Full && configured != policy.Full {
		return configured
	}
	return p
}

// policySetting returns the setting of the policy. The lock is held.
func (a *Agent) policySetting() protocol.Setting {
	configured := cmp.Or(a.options.Config.Policy, policy.Ask)
	s := protocol.Setting{
		ID: policySetting, Name: "Policy", Value: string(a.policyName()), Default: string(configured),
	}
	for _, d := range policy.All {
		if d.Policy != policy.Full || configured == policy.Full {
			s.Choices = append(s.Choices, protocol.Choice{ID: string(d.Policy), Label: d.Label, About: d.About})
		}
	}
	return s
}

// warnOfPolicy tells users that nothing will be asked.
func (a *Agent) warnOfPolicy() error {
	if a.policy() != policy.Full {
		return nil
	}
	return a.host.Emit(session.Event{Type: protocol.Notice, Data: protocol.NoticeData{
		Level: protocol.LevelWarning, Message: "policy full: all calls of tools run without asking",
	}})
}
