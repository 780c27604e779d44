package tui

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/internal/userstate"
	"agentctl/protocol"
	"agentctl/tui/drafts"
)

func TestADraftSurvivesLeavingAndIsGoneOnceItWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		start := func() *dashboardProgram {
			o := Options{Parts: Parts{Composer: ComposerOptions{Drafts: drafts.Open(userstate.At(dir), "server")}}}
			p := startDashboardWith(t, o, tuitest.NewServer(), "s3")
			tuitest.Wait(time.Second)
			return p
		}
		p := start()
		p.press("half a message")
		p.stop() // before the timer that saves

		p = start()
		p.wantText("> half a message")
		p.press("\x7f", "\x7f", keyF2) // a change, then the dashboard
		p.stop()

		p = start()
		p.wantText("> half a messa")
		p.press(keyEnter)
		p.stop()

		p = start()
		if d := p.p.sessions.drafts.Load("s3"); !d.Empty() {
			t.Errorf("after sending: the draft %+v", d)
		}
		p.stop()
	})
}

func TestTheFormOfANewSessionIsKeptUntilASessionHasIt(t *testing.T) {
	d := newTestDashboardWith(t, Options{}, 100, 20, tuitest.Summaries()...)
	result := protocol.CreateResult{}
	failure := errors.New("no such agent")
	d.server.OnCreate = func(protocol.CreateData) (protocol.CreateResult, error) { return result, failure }
	d.press("+")
	d.wantText("esc cancels")
	d.press("tab", "right", "esc", "+") // a choice alone is no text
	d.wantNoText("from your draft")
	d.typeText("fix")
	d.press("tab", "right", "tab", "tab")
	d.typeText("Fix the tests")
	d.wantText("esc closes, the draft is kept")
	d.press("esc")
	d.wantText("draft kept · + opens it again")
	d.press("+")
	d.wantText("new session, from your draft", "name      fix", "agent     claude", "prompt    Fix the tests")
	d.press("enter", "esc", "+") // it was never sent
	d.wantText("from your draft", "Fix the tests")
	result, failure = protocol.CreateResult{Session: "s77"}, nil
	d.press("enter", "f2", "+")
	d.wantText("new session")
	d.wantNoText("from your draft")
}

func TestTheFormOfANewSessionKeepsTheServer(t *testing.T) {
	d := newServersDashboard(t)
	d.press("+", "tab", "right")
	d.wantText("server    box")
	d.press("tab", "tab")
	d.typeText("/srv")
	d.press("esc", "+")
	d.wantText("from your draft", "server    box", "directory /srv")
	d.press("tab", "left", "esc", "+") // the sandbox, which local has not
	d.wantText("from your draft", "server    box", "sandbox   read-only, network off")
	d.press("shift+tab", "ctrl+u", "esc", "+")
	d.wantNoText("from your draft")
}
