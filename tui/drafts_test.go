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

func TestThePromptOfANewSessionIsKeptUntilASessionHasIt(t *testing.T) {
	d := newTestDashboardWith(t, Options{}, 100, 20, tuitest.Summaries()...)
	result := protocol.CreateResult{}
	failure := errors.New("no such agent")
	d.server.OnCreate = func(protocol.CreateData) (protocol.CreateResult, error) { return result, failure }
	d.press("+", "tab", "tab", "tab")
	d.typeText("Fix the tests")
	d.press("esc")
	d.wantNoText("Fix the tests")
	d.press("+")
	d.wantText("prompt    Fix the tests")
	d.press("enter", "esc", "+") // it was never sent
	d.wantText("prompt    Fix the tests")
	result, failure = protocol.CreateResult{Session: "s77"}, nil
	d.press("enter", "f2", "+")
	d.wantText("new session")
	d.wantNoText("Fix the tests")
}
