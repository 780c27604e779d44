package sessionview

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// policySettings are the settings of an agent with a policy.
func policySettings(value string) protocol.Options {
	return protocol.Options{Settings: []protocol.Setting{{
		ID: protocol.PolicySetting, Name: "Policy", Value: value, Default: value,
		Choices: []protocol.Choice{{ID: "ask", Label: "Ask"}, {ID: "full", Label: "Everything runs"}},
	}}}
}

// A policy that decides in place of the user is shown at any width, also if it is the default.
func TestTheStatusLineShowsAPolicyThatDecides(t *testing.T) {
	for _, size := range [][2]int{{60, 16}, {80, 24}, {120, 40}, {200, 60}} {
		s := open(t, tuitest.Scenes["settings"](), size[0], size[1])
		s.mustHide("policy")
		s.journal.Add(protocol.AgentOptions, policySettings("full"))
		s.applyJournal()
		s.mustShow("policy full")
		s.journal.Add(protocol.AgentOptions, policySettings("ask"))
		s.applyJournal()
		s.mustHide("policy")
	}
}

func TestThePolicyIsChangedInTheSettings(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 80, 24)
	s.journal.Add(protocol.AgentOptions, policySettings("full"))
	s.applyJournal()
	s.press("f3")
	s.mustShow("▸ Policy: Everything runs")
	s.press("enter", "up", "enter")
	want := protocol.ConfigureData{Setting: "policy", Value: "ask"}
	if data := s.mustSend(protocol.DoConfigure).(protocol.ConfigureData); data != want {
		t.Errorf("sent %+v, want %+v", data, want)
	}
}

// A sandbox is shown in the status line and with the settings.
func TestASandboxIsShown(t *testing.T) {
	s := open(t, tuitest.Scenes["settings"](), 120, 40)
	s.mustHide("sandbox")
	s = open(t, func() *tuitest.Journal {
		j := tuitest.NewJournal()
		j.Add(protocol.SessionCreated, protocol.SessionCreatedData{
			Name: "fix", Agent: "claude", Sandbox: protocol.Sandbox{Mode: protocol.SandboxWorkspace, Network: protocol.SandboxNetworkOff},
		})
		return j
	}(), 120, 40)
	s.mustShow("sandbox workspace, network off")
	s.press("f3")
	s.mustShow("claude · sandbox workspace, network off")
}
