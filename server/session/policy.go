package session

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent/policy"
)

// Policies is implemented by Agents whose configuration gives agents a policy.
type Policies interface {
	// Policy returns the policy of an agent's new sessions; empty: ask.
	Policy(agent string) policy.Policy
}

// A session decides by its policy about the requests of an agent that has none of its own
// (Capabilities.HasPolicy). The policy is a setting that the session adds to those of the agent.

// configuredPolicy returns the policy of the configuration. A session that an agent created asks:
// no agent decides anything by the choice of another agent.
func (s *Session) configuredPolicy() policy.Policy {
	if p, ok := s.hub.cfg.Agents.(Policies); ok && s.spec.Parent == "" {
		return cmp.Or(p.Policy(s.spec.Agent), policy.Ask)
	}
	return policy.Ask
}

func (s *Session) policy() policy.Policy {
	return policy.Effective(s.spec.Policy, s.configuredPolicy())
}

// policyLabel returns the value of the setting.
func (s *Session) policyLabel() string {
	if s.spec.File != nil {
		return protocol.PolicyFilePrefix + s.spec.File.Name
	}
	return string(s.policy())
}

// takePolicy moves the policy from the settings of a new session to its spec, unless the agent has
// a policy of its own. An agent whose session has a policy file asks.
func (s *Session) takePolicy() error {
	if s.spec.File != nil {
		if err := policy.CheckFile(s.spec.File); err != nil {
			return protocol.Errorf(protocol.CodeInvalidMessage, "policy: %v", err)
		}
		if s.capabilities.HasPolicy {
			s.spec.Settings = without(s.spec.Settings, policy.SettingID)
			s.spec.Settings[policy.SettingID] = string(policy.Ask)
			s.preparation.settings = maps.Clone(s.spec.Settings)
			s.storeSpec()
		}
	}
	value, chosen := s.spec.Settings[policy.SettingID]
	if s.capabilities.HasPolicy || !chosen {
		return nil
	}
	if err := s.checkPolicy(value); err != nil {
		return err
	}
	s.spec.Policy = policy.Policy(value)
	s.spec.Settings = without(s.spec.Settings, policy.SettingID)
	s.preparation.settings = without(s.preparation.settings, policy.SettingID)
	s.storeSpec()
	return nil
}

// without returns a copy of settings without one of them.
func without(settings map[string]string, name string) map[string]string {
	left := map[string]string{}
	for k, v := range settings {
		if k != name {
			left[k] = v
		}
	}
	return left
}

func (s *Session) checkPolicy(name string) error {
	offered := policy.Setting("", s.configuredPolicy()).Choices
	switch {
	case slices.ContainsFunc(offered, func(c protocol.Choice) bool { return c.ID == name }):
		return nil
	case name == string(policy.Full):
		return protocol.Errorf(protocol.CodeInvalidMessage,
			`the policy full needs "policy": "full" of the agent in the configuration of the server`)
	}
	return protocol.Errorf(protocol.CodeInvalidMessage,
		"%.80q is not a policy: want ask, auto-read, auto-edit, deny or plan", name)
}

// configurePolicy changes the policy. done is false if the agent has it to change.
func (s *Session) configurePolicy(cmd *command, value string) (done bool, err error) {
	if _, err := s.openAgent(); err != nil {
		return false, err
	}
	if s.spec.File != nil && value == s.policyLabel() {
		return true, nil
	}
	if !s.capabilities.HasPolicy || s.spec.File != nil {
		if err := s.checkPolicy(value); err != nil {
			return false, err
		}
	}
	if s.capabilities.HasPolicy {
		if s.spec.File != nil { // the policy of the agent decides from now on
			s.spec.File = nil
			s.storeSpec()
		}
		return false, nil
	}
	s.setPolicy(policy.Policy(value), cmd.by)
	return true, nil
}

// setPolicy changes the policy. It decides the pending requests too.
func (s *Session) setPolicy(name policy.Policy, by protocol.Actor) {
	s.spec.Policy, s.spec.File = name, nil
	s.storeSpec()
	s.recordPolicy(&by)
	for _, p := range slices.Clone(s.state.Approvals) {
		if waiters := s.approvals.waiters[p.Request]; len(waiters) > 0 {
			s.decideByPolicy(p.Request, s.judge(&waiters[0].call))
		}
	}
}

// recordPolicy records the settings of the agent with the present policy.
func (s *Session) recordPolicy(by *protocol.Actor) {
	var o protocol.Options
	if s.state.Options != nil {
		o = *s.state.Options
	}
	s.record(protocol.AgentOptions, by, s.addPolicy(o))
}

// addPolicy returns the settings of the agent with the policy as the last one. It replaces a
// setting of the same id.
func (s *Session) addPolicy(o protocol.Options) protocol.Options {
	own := policy.RequestSetting(s.policy(), s.configuredPolicy())
	if s.spec.File != nil {
		own.Value = s.policyLabel()
		own.Choices = append(own.Choices, protocol.Choice{ID: own.Value, Label: "File " + s.spec.File.Name})
	}
	settings := slices.DeleteFunc(slices.Clone(o.Settings), func(set protocol.Setting) bool {
		return set.ID == policy.SettingID
	})
	o.Settings = append(settings, own)
	return o
}

// addPolicyTo adds the policy to the settings of an agent; other events stay as they are.
func (s *Session) addPolicyTo(en *entry) {
	if en.typ != protocol.AgentOptions || s.capabilities.HasPolicy && s.spec.File == nil {
		return
	}
	var o protocol.Options
	if err := json.Unmarshal(en.data, &o); err != nil {
		return
	}
	if raw, err := encode(s.addPolicy(o)); err == nil && len(raw) <= protocol.MaxEvent-envelope {
		en.data = raw
	}
}

// judge returns what the policy says about a request. Under the policy ask it says nothing: the
// agent knows what needs no request.
func (s *Session) judge(c *policy.Call) policy.Ruling {
	if s.spec.File != nil {
		return policy.JudgeFile(s.spec.File, c)
	}
	p := s.policy()
	if s.capabilities.HasPolicy || p == policy.Ask {
		return policy.Ruling{}
	}
	r := p.Judge(*c)
	if r.Action == policy.Allow && r.Reason == "" {
		switch {
		case p == policy.Full:
			r.Reason = "everything is allowed"
		case c.Safe:
			r.Reason = "it only reads, in the directory of the session"
		default:
			r.Reason = "it changes files in the directory of the session only"
		}
	}
	return r
}

// decideByPolicy resolves a pending request as the policy says, if it does.
func (s *Session) decideByPolicy(request string, r policy.Ruling) {
	d := protocol.ApprovalResolvedData{Request: request, ByPolicy: s.policyLabel(), Reason: r.Reason}
	switch r.Action {
	case policy.Allow:
		d.Outcome, d.Decision = protocol.Allowed, protocol.AllowOnce
	case policy.Refuse:
		d.Outcome, d.Decision = protocol.Denied, protocol.Deny
	default:
		return
	}
	s.resolve(request, protocol.Actor{}, d)
}

// endPlanning replaces the policy plan when a user allows a plan, or what the agent does next: the
// choice of a mode, for which agents have no kind of their own.
func (s *Session) endPlanning(a *protocol.Approval, by protocol.Actor) {
	if s.capabilities.HasPolicy || s.spec.File != nil || s.policy() != policy.Plan ||
		a.Kind != protocol.ApprovePlan && a.Kind != protocol.ApproveTool {
		return
	}
	next := s.configuredPolicy()
	if next == policy.Plan {
		next = policy.Ask
	}
	s.setPolicy(next, by)
}

// approvalTimeout returns the time for the decision of a request: the shorter one of the server and
// of the policy file; 0: no limit.
func (s *Session) approvalTimeout() time.Duration {
	d := s.hub.settings().ApprovalTimeout
	if s.spec.File == nil {
		return d
	}
	if own, _ := policy.FileTimeout(s.spec.File); own > 0 && (d == 0 || own < d) {
		return own
	}
	return d
}
