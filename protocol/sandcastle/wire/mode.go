package wire

import (
	"slices"

	"agentctl/protocol"
)

// The agent setting that a send can choose, and its values. In the protocol an agent plans or
// builds: every mode other than plan is build.
const (
	SettingMode = "mode"
	ModePlan    = "plan"
	ModeBuild   = "build"
)

// ModeSetting returns the setting that holds the mode of the agent, or nil: its mode, or the policy
// of an agent that plans by it. A policy of the session does not keep an agent from building: the
// agent may act without a request.
func ModeSetting(st *protocol.State) *protocol.Setting {
	if st == nil || st.Options == nil {
		return nil
	}
	isPlan := func(c protocol.Choice) bool { return c.ID == ModePlan }
	var found *protocol.Setting
	for i := range st.Options.Settings {
		switch s := &st.Options.Settings[i]; {
		case s.ID == SettingMode && slices.ContainsFunc(s.Choices, isPlan):
			return s
		case s.ID == SettingMode && found == nil:
			found = s
		case s.ID == protocol.PolicySetting && !s.RequestsOnly && slices.ContainsFunc(s.Choices, isPlan):
			found = s
		}
	}
	return found
}

// ModeOf returns the mode of the agent: plan or build.
func ModeOf(st *protocol.State) string {
	if s := ModeSetting(st); s != nil && s.Value == ModePlan {
		return ModePlan
	}
	return ModeBuild
}

// BuildValue returns the value of a mode setting in which the agent builds. before is the value
// before plan, or empty.
func BuildValue(s *protocol.Setting, before string) string {
	isBefore := func(c protocol.Choice) bool { return c.ID == before && before != ModePlan }
	isBuild := func(c protocol.Choice) bool { return c.ID == ModeBuild }
	isDefault := func(c protocol.Choice) bool { return c.ID == "default" }
	isFirst := func(c protocol.Choice) bool { return c.ID == s.Default && s.Default != ModePlan }
	isOther := func(c protocol.Choice) bool { return c.ID != ModePlan }
	for _, is := range []func(protocol.Choice) bool{isBefore, isBuild, isDefault, isFirst, isOther} {
		if i := slices.IndexFunc(s.Choices, is); i >= 0 {
			return s.Choices[i].ID
		}
	}
	return ModeBuild
}
