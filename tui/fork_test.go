package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/task"
)

// forkInPane shows s1 and s2 side by side and chooses to fork s2, which has the focus. It returns
// the command that forks it as k2.
func forkInPane(t *testing.T) (*testDashboard, tea.Cmd) {
	t.Helper()
	d := newTestPanes(t, 199, 60, "s1", "v s2")
	d.server.Sessions["s2"].Reply = func(tuitest.Command) (any, error) {
		return protocol.CreateResult{Session: "k2"}, nil
	}
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "fix the parser")
	j.Text("p1", "answer")
	j.EndTurn(protocol.ReasonCompleted)
	j.Add(protocol.AgentOptions, protocol.Options{Features: []string{protocol.FeatureFork}})
	j.CaughtUp()
	updates := j.Take()
	for _, u := range updates {
		if u.Event != nil {
			u.Event.Session = "s2"
		}
	}
	d.send(task.Message{To: d.p.sessions.shown, Msg: updates})
	d.press("esc", "esc", "right")
	d.wantText("▸ Fork")
	_, cmd := d.p.Update(tuitest.KeyPress("enter"))
	return d, cmd
}

func TestAForkOpensWithItsMessage(t *testing.T) {
	d, fork := forkInPane(t)
	d.run(fork)
	d.wantOnScreen("k2 s1")
	if got := d.p.sessions.drafts.Load("k2").Text; got != "fix the parser" {
		t.Errorf("the draft is %q", got)
	}
	d.wantText("a fork that ends before this message")
}

func TestAForkWaitsWhileAnotherSessionHasTheFocus(t *testing.T) {
	d, fork := forkInPane(t)
	d.press("alt+w", "w")
	d.wantOnScreen("s1 s2")
	d.run(fork)
	d.wantOnScreen("s1 s2")
	if got := d.p.sessions.drafts.Load("k2").Text; got != "fix the parser" {
		t.Errorf("the draft is %q", got)
	}
}
