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
	d.press("n")
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
	d.press("n")
	d.want("agent     gemini")
	d.press("enter")
	if created.Agent != "gemini" {
		t.Errorf("created with agent %q", created.Agent)
	}
}
