package dashboard

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

func TestDashboardCreateSession(t *testing.T) {
	d := newTestDashboard(t, 90, 16, tuitest.Summaries()...)
	var requests []protocol.CreateData
	refused := true
	d.server.OnCreate = func(d protocol.CreateData) (protocol.CreateResult, error) {
		requests = append(requests, d)
		if refused {
			refusal := &protocol.Error{Code: protocol.CodeNameTaken, Message: "the name is taken"}
			return protocol.CreateResult{}, &remote.AdvisedError{Err: refusal, Advice: "choose another: agentctl ls"}
		}
		return protocol.CreateResult{Session: "s77"}, nil
	}
	d.press("+")
	d.want("new session", "→: claude, gemini", "/home/ada")
	d.typeText("fix")
	d.press("tab", "right", "right", "left", "tab", "tab")
	d.typeText("Fix it")
	d.press("enter")
	d.want("the name is taken", "choose another: agentctl ls", "Fix it")
	refused = false
	d.press("up", "up", "up")
	d.send(tea.PasteMsg{Content: "-2\x1b[2J"})
	d.press("enter")
	want := protocol.CreateData{
		Name:            "fix-2",
		Agent:           "claude",
		CWD:             "/home/ada",
		Prompt:          "Fix it",
		ClientMessageID: "client-m1",
		Check:           true,
	}
	if len(requests) != 2 || fmt.Sprint(requests[1]) != fmt.Sprint(want) {
		t.Errorf("create requests: got %+v, want 2 with %+v last", requests, want)
	}
	if d.opened() != "s77" {
		t.Error("the created session is not on the screen")
	}
}

func TestNewSessionFormProposesAnAgent(t *testing.T) {
	asked := 0
	propose := func(c *Config) { c.Agent = func() string { asked++; return "gemini" } }
	d := newTestDashboardWith(t, propose, 100, 30, tuitest.Summaries()...)
	if asked != 0 {
		t.Error("the agent is looked for before the form is open")
	}
	var created protocol.CreateData
	d.server.OnCreate = func(c protocol.CreateData) (protocol.CreateResult, error) {
		created = c
		return protocol.CreateResult{Session: "new"}, nil
	}
	d.press("+")
	d.want("agent     gemini")
	d.press("enter")
	if created.Agent != "gemini" {
		t.Errorf("created with agent %q", created.Agent)
	}
}

func TestANewSessionHasASandboxWhereTheServerHasSome(t *testing.T) {
	d := newTestDashboard(t, 100, 30, tuitest.Summaries()...)
	var created []protocol.Sandbox
	d.server.OnCreate = func(c protocol.CreateData) (protocol.CreateResult, error) {
		created = append(created, c.Sandbox)
		return protocol.CreateResult{Session: "new"}, nil
	}
	d.press("+")
	d.wantNo("sandbox")
	d.press("esc")
	d.server.DefaultSandbox = &protocol.Sandbox{Mode: protocol.SandboxWorkspace, Network: protocol.SandboxNetworkOff}
	for _, c := range []struct {
		keys []string // in the field
		want protocol.Sandbox
	}{
		{nil, protocol.Sandbox{}}, // the server's
		{[]string{"right"}, protocol.Sandbox{Mode: protocol.SandboxOff}},
		{[]string{"right", "right"}, protocol.Sandbox{Mode: protocol.SandboxWorkspace}},
		{[]string{"left"}, protocol.Sandbox{Mode: protocol.SandboxReadOnly, Network: protocol.SandboxNetworkOff}},
	} {
		d := newTestDashboard(t, 130, 30, tuitest.Summaries()...)
		d.server.DefaultSandbox = &protocol.Sandbox{
			Mode: protocol.SandboxWorkspace, Network: protocol.SandboxNetworkOff,
		}
		d.server.OnCreate = func(c protocol.CreateData) (protocol.CreateResult, error) {
			created = append(created, c.Sandbox)
			return protocol.CreateResult{Session: "new"}, nil
		}
		d.press("+", "tab", "tab", "tab")
		d.want("sandbox   (default: workspace, network off) · →: off · workspace · workspace, network off · read-only")
		d.press(c.keys...)
		d.press("enter")
		if got := created[len(created)-1]; got != c.want {
			t.Errorf("%v: created with %+v, want %+v", c.keys, got, c.want)
		}
	}
	before := len(created)
	d.press("+", "tab", "tab", "tab")
	d.typeText("weak")
	d.press("enter")
	d.want("unknown sandbox: want off; workspace; ")
	if len(created) != before {
		t.Error("created with an unknown sandbox")
	}
}

// The field belongs to the chosen server; the other servers' fields keep their values.
func TestTheSandboxFollowsTheServerOfANewSession(t *testing.T) {
	d, several := newSeveralRig(t, 130, 30)
	d.press("+")
	d.wantNo("sandbox")
	d.press("tab", "tab", "tab", "tab")
	d.typeText("Fix it")
	d.press("up", "up", "up", "right") // the server box
	d.want("sandbox   (default: read-only)", "prompt    Fix it")
	d.press("tab", "tab", "tab", "right", "right")
	d.want("sandbox   workspace")
	d.press("up", "up", "up", "right") // the server gpu
	d.wantNo("sandbox")
	d.want("prompt    Fix it")
	d.press("left", "tab", "tab", "tab", "left", "enter")
	want := protocol.Sandbox{Mode: protocol.SandboxReadOnly, Network: protocol.SandboxNetworkOff}
	if len(several.created) != 1 || several.sandbox != want {
		t.Errorf("created %v with %+v", several.created, several.sandbox)
	}
}
