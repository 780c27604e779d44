package llm

import (
	"cmp"

	"agentctl/protocol"
	"agentctl/server/policy"
)

// policy returns the policy for calls now.
func (a *Agent) policy() policy.Policy {
	if a.parent != nil { // users change the policy of the session
		return a.parent.policy()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.policyName()
}

// policyName returns the policy. A stored policy that the configuration no longer allows is
// replaced with the configured one. The lock is held.
func (a *Agent) policyName() policy.Policy {
	return policy.Effective(a.state.Policy, a.options.Config.Policy)
}

// policySetting returns the setting of the policy. The lock is held.
func (a *Agent) policySetting() protocol.Setting {
	return policy.Setting(a.policyName(), cmp.Or(a.options.Config.Policy, policy.Ask))
}

// warnOfPolicy warns users that no approval will be requested.
func (a *Agent) warnOfPolicy() error {
	if a.policy() != policy.Full {
		return nil
	}
	return warn(a.host, "policy full: all calls of tools run without asking")
}
