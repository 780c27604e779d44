package llm

import (
	"cmp"
	"context"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/policy"
)

// The settings.
const (
	modelSetting   = "model"
	effortSetting  = "effort"
	policySetting  = policy.SettingID
	contextSetting = "context"
	defaultEffort  = "default" // of the provider
)

// settings returns the settings with their values.
func (a *Agent) settings() []protocol.Setting {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := &a.options.Config
	m := protocol.Setting{
		ID: modelSetting, Name: "Model", Value: a.modelName(), Default: c.Model, Choices: a.models.choices(),
	}
	e := protocol.Setting{
		ID: effortSetting, Name: "Reasoning effort",
		Value: cmp.Or(a.effort(), defaultEffort), Default: cmp.Or(c.Effort, defaultEffort),
	}
	for _, id := range append([]string{defaultEffort}, a.models.efforts(m.Value)...) {
		e.Choices = append(e.Choices, protocol.Choice{ID: id, Label: id})
	}
	return []protocol.Setting{m, e, a.policySetting(), a.measure(&a.state, nil).setting()}
}

// effort returns the effort of reasoning; empty: the provider's default. The lock is held.
func (a *Agent) effort() string {
	switch a.state.Effort {
	case "":
		return a.options.Config.Effort
	case defaultEffort:
		return ""
	}
	return a.state.Effort
}

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

func (a *Agent) emitOptions() error {
	o := protocol.Options{
		Name: a.options.Name, Settings: a.settings(),
		Features: []string{protocol.FeatureUndo, protocol.FeatureFork, protocol.FeatureSteer},
	}
	a.mu.Lock()
	toolbox := a.toolbox
	a.mu.Unlock()
	if s, ok := toolbox.(Servers); ok {
		o.Commands, o.Resources = s.Commands(), s.Resources()
	}
	return a.host.Emit(agent.Event{Type: protocol.AgentOptions, Data: o})
}

// tryEmitOptions emits the options after a change of their choices. A failure is logged.
func (a *Agent) tryEmitOptions() {
	if err := a.emitOptions(); err != nil {
		a.host.Logf("options of %s: %v", a.options.Name, err)
	}
}

// Configure changes the model, the effort or the strategy of the context from the next request on,
// or the policy from the next call on.
func (a *Agent) Configure(_ context.Context, setting, value string) error {
	set, chosen, err := protocol.ChooseSetting(a.settings(), setting, value)
	switch {
	case protocol.CodeOf(err) == protocol.CodeNotFound && !a.Process().Running: // clients do not know the settings yet
		return cmp.Or(a.emitOptions(), err)
	case err != nil && setting == policySetting && policy.Policy(value) == policy.Full:
		return protocol.Errorf(protocol.CodeInvalidMessage,
			`the policy full needs "policy": "full" of the agent in the configuration of the server`)
	case err != nil && setting == modelSetting && a.models.allows(value):
		set, chosen = &protocol.Setting{ID: modelSetting}, value
	case err != nil:
		return err
	}
	setting, value = set.ID, chosen
	err = a.update(a.host, func(s *state) {
		switch setting {
		case effortSetting:
			s.Effort = value
		case policySetting:
			s.Policy = policy.Policy(value)
		case contextSetting:
			s.Strategy = value
		default:
			s.Model, a.backend = value, nil
		}
	})
	if err != nil {
		return err
	}
	return a.emitOptions()
}
