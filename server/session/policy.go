package session

import (
	"encoding/json"
	"maps"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/policy"
	"agentctl/server/session/record"
)

// decider returns the Decider for the agent's requests. A session that an agent created asks: an
// agent's choice must not decide for another agent.
func (s *Session) decider() *policy.Decider {
	d := &policy.Decider{Choice: s.spec.Choice, AgentHas: s.slot.Capabilities().HasPolicy}
	if p, ok := s.hub.cfg.Agents.(Policies); ok && s.spec.Parent == "" {
		d.Configured = p.Policy(s.spec.Agent)
	}
	return d
}

// takePolicy moves the policy from the settings of a new session to its spec.
func (s *Session) takePolicy() error {
	d := s.decider()
	settings, err := d.Take(s.spec.Settings)
	if err != nil || maps.Equal(settings, s.spec.Settings) {
		return err
	}
	s.spec.Choice, s.spec.Settings = d.Choice, settings
	s.slot.Preparation().Replace(settings)
	s.storeSpec()
	return nil
}

// configurePolicy changes the policy. done is false if the agent has it to change.
func (s *Session) configurePolicy(cmd *command, value string) (done bool, err error) {
	if _, err := s.openAgent(); err != nil {
		return false, err
	}
	d := s.decider()
	chosen, err := d.Choose(value)
	switch {
	case err != nil:
		return false, err
	case chosen.File != nil:
		return true, nil // the file decides as before
	case !d.AgentHas:
		s.setPolicy(chosen, cmd.by)
		return true, nil
	case d.File != nil: // the policy of the agent decides from now on
		s.spec.Choice = chosen
		s.storeSpec()
	}
	return false, nil
}

// setPolicy changes the policy. It decides the pending requests too.
func (s *Session) setPolicy(c policy.Choice, by protocol.Actor) {
	s.spec.Choice = c
	s.storeSpec()
	s.recorder.RecordAll([]record.Event{policyEvent(s.decider(), s.state.Options, &by)})
	s.resolve(s.approvals.ByPolicy(s.state, s.decider())...)
}

// policyEvent returns the event of the settings of an agent with the present policy. o are the settings
// known before; nil: none.
func policyEvent(d *policy.Decider, o *protocol.Options, by *protocol.Actor) record.Event {
	if o == nil {
		o = new(protocol.Options)
	}
	return record.Event{Type: protocol.AgentOptions, By: by, Data: d.AddSetting(*o)}
}

// addPolicyTo adds the policy of a decider to an entry with the settings of an agent.
func addPolicyTo(en *eventlog.Entry, d *policy.Decider) {
	if !d.HasSetting() {
		return
	}
	var o protocol.Options
	if err := json.Unmarshal(en.Data, &o); err != nil {
		return
	}
	if raw, err := record.Encode(d.AddSetting(o)); err == nil && len(raw) <= record.MaxData {
		en.Data = raw
	}
}
