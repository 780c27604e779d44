package sandcastle

import (
	"slices"

	"agentctl/protocol"
	"agentctl/protocol/codec"
)

// The agent setting that a send can choose, and its values. In the protocol an agent plans or
// builds: every mode other than plan is build.
const (
	settingMode = "mode"
	modePlan    = "plan"
	modeBuild   = "build"
)

// modeSetting returns the setting that holds the mode of the agent, or nil: its mode, or the policy
// of an agent that plans by it. A policy of the session does not keep an agent from building: the
// agent may act without a request.
func modeSetting(st *protocol.State) *protocol.Setting {
	if st == nil || st.Options == nil {
		return nil
	}
	isPlan := func(c protocol.Choice) bool { return c.ID == modePlan }
	var found *protocol.Setting
	for i := range st.Options.Settings {
		switch s := &st.Options.Settings[i]; {
		case s.ID == settingMode && slices.ContainsFunc(s.Choices, isPlan):
			return s
		case s.ID == settingMode && found == nil:
			found = s
		case s.ID == protocol.PolicySetting && !s.RequestsOnly && slices.ContainsFunc(s.Choices, isPlan):
			found = s
		}
	}
	return found
}

// modeSettingID returns the id of that setting. Before the agent's start it is not known.
func modeSettingID(s *protocol.Setting) string {
	if s == nil {
		return settingMode
	}
	return s.ID
}

// modeOf returns the mode of the agent: plan or build.
func modeOf(st *protocol.State) string {
	if s := modeSetting(st); s != nil && s.Value == modePlan {
		return modePlan
	}
	return modeBuild
}

// buildValue returns the value of a mode setting in which the agent builds. before is the value
// before plan, or empty.
func buildValue(s *protocol.Setting, before string) string {
	isBefore := func(c protocol.Choice) bool { return c.ID == before && before != modePlan }
	isBuild := func(c protocol.Choice) bool { return c.ID == modeBuild }
	isDefault := func(c protocol.Choice) bool { return c.ID == "default" }
	isFirst := func(c protocol.Choice) bool { return c.ID == s.Default && s.Default != modePlan }
	isOther := func(c protocol.Choice) bool { return c.ID != modePlan }
	for _, is := range []func(protocol.Choice) bool{isBefore, isBuild, isDefault, isFirst, isOther} {
		if i := slices.IndexFunc(s.Choices, is); i >= 0 {
			return s.Choices[i].ID
		}
	}
	return modeBuild
}

// encodeModeChange sends the mode if it changed. An unchanged one would reset what users chose for
// their next message.
func (sub *subscription) encodeModeChange() {
	if mode := modeOf(sub.State); mode != sub.mode {
		sub.mode = mode
		sub.sendTransientChat(chatEvent{Type: chatModeChange, Mode: mode})
	}
}

// errPlanQueued refuses a message in mode plan that would wait: the mode may have changed by then.
var errPlanQueued = protocol.Errorf(protocol.CodeConflict,
	"a message in mode plan cannot wait in the queue: send it when the turn has ended")

// sendInMode sends a message after the agent has the message's mode. That starts the agent if
// necessary. A message whose turn would not be in mode plan is refused, because an agent that
// builds writes files. A message without a mode builds if an earlier one of this connection chose
// plan.
func (s *server) sendInMode(c *rpcCall, send func(refuseQueued bool)) {
	_, planned := s.planned[c.SessionID]
	if c.Mode != modePlan && c.Mode != modeBuild && !planned {
		send(false)
		return
	}
	s.setMode(c, nil, func() { send(c.Mode == modePlan) })
}

// setMode calls then when the agent has the message's mode. refused is why an agent that was not
// started has no setting mode: now its settings are known.
func (s *server) setMode(c *rpcCall, refused *protocol.Error, then func()) {
	before, planned := s.planned[c.SessionID]
	s.Request(protocol.DoSnapshot, c.SessionID, "", nil, func(a protocol.Answer) {
		r, err := codec.DecodeResult[protocol.SnapshotResult](a)
		st := r.Snapshot.State
		if err != nil || st == nil {
			s.failCall(c, orInternal(err))
			return
		}
		value, busy := "", st.Turn != nil || len(st.Queue) > 0 || st.BlockingHold() != nil
		setting := modeSetting(st)
		switch {
		case refused != nil && (setting == nil || setting.ID == settingMode):
			delete(s.planned, c.SessionID)
			s.failCall(c, refused)
			return
		case c.Mode == modePlan && busy:
			s.failCall(c, errPlanQueued)
			return
		case c.Mode == modePlan && modeOf(st) != modePlan:
			value = modePlan
			was := "" // unknown before the agent's start
			if setting != nil {
				was = setting.Value
			}
			if planned || len(s.planned) < maxSubscriptions {
				s.planned[c.SessionID] = was
			}
		case c.Mode != modePlan && modeOf(st) == modePlan && !busy:
			value = buildValue(setting, before)
			delete(s.planned, c.SessionID)
		}
		if value == "" {
			then()
			return
		}
		d := protocol.ConfigureData{Setting: modeSettingID(setting), Value: value}
		s.Request(protocol.DoConfigure, st.Session, "", d, func(a protocol.Answer) {
			if a.Error == nil {
				then()
				return
			}
			a.Error.Message = "the agent does not change to mode " + value + ": " + a.Error.Message
			if setting == nil && refused == nil {
				s.setMode(c, a.Error, then)
				return
			}
			s.failCall(c, a.Error)
		})
	})
}
