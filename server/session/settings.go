package session

import (
	"encoding/json"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/policy"
	"agentctl/server/session/limit"
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

// takeSettings moves the policy and the choice to continue after limits from the settings of a new session
// to its spec. Without a choice it is the server's default, in the name of the user who creates the session.
func takeSettings(s *Session, cmd *command) error {
	d := s.decider()
	settings, err := d.Take(s.spec.Settings)
	if err != nil {
		return err
	}
	value, settings, chosen := limit.Take(settings)
	n := 0
	if chosen {
		if n, err = limit.Choose(value); err != nil {
			return err
		}
	} else if s.spec.Parent == "" {
		n = s.hub.settings().ContinueAfterLimit
	}
	s.spec.Choice, s.spec.Settings, s.spec.AfterLimit = d.Choice, settings, cmd.afterLimit(n)
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
		s.setPolicy(chosen, cmd.By)
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
	s.recorder.RecordAll(optionsEvent(s, &by))
	s.resolve(s.approvals.ByPolicy(s.state, s.decider())...)
}

// optionsEvent returns the event of the settings known before with the present settings of the session.
func optionsEvent(s *Session, by *protocol.Actor) record.Event {
	o := protocol.Options{}
	if s.state.Options != nil {
		o = *s.state.Options
	}
	return record.Event{Type: protocol.AgentOptions, By: by, Data: ownSettings(s, o)}
}

// ownSettings returns the settings of the agent and of the session.
func ownSettings(s *Session, o protocol.Options) protocol.Options {
	if d := s.decider(); d.HasSetting() {
		o = d.AddSetting(o)
	}
	return limit.AddSetting(o, s.spec.AfterLimit)
}

// addSettingsTo adds the settings of the session to an entry with the settings of its agent.
func addSettingsTo(s *Session, en *eventlog.Entry) {
	var o protocol.Options
	if err := json.Unmarshal(en.Data, &o); err != nil {
		return
	}
	if raw, err := record.Encode(ownSettings(s, o)); err == nil && len(raw) <= record.MaxData {
		en.Data = raw
	}
}

// afterLimit returns the choice of n continuations by the sender of the command; nil: none.
func (c *command) afterLimit(n int) *agent.AfterLimit {
	if n <= 0 {
		return nil
	}
	choice := &agent.AfterLimit{Most: n, By: c.By}
	if c.Grant != nil {
		choice.Credential = c.Grant()
	}
	return choice
}

// setAfterLimit changes the choice to continue after limits.
func setAfterLimit(s *Session, cmd *command, value string) (any, error) {
	n, err := limit.Choose(value)
	if err != nil {
		return nil, err
	}
	s.recorder.RecordAll(s.limits.Choose(s.state, cmd.afterLimit(n), time.Now(), NewID(idMessage))...)
	s.recorder.RecordAll(optionsEvent(s, &cmd.By))
	s.scheduleTimer()
	return protocol.Empty{}, nil
}
