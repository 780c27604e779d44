package tui

import (
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/tuitest"
	"agentctl/tui/drafts"
)

func TestADraftSurvivesLeavingAndIsGoneOnceItWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		start := func() *dashboardProgram {
			o := Options{Parts: Parts{Composer: ComposerOptions{Drafts: drafts.Open(dir, "server")}}}
			p := startDashboardWith(t, o, newFakeServer(), "s3")
			tuitest.Wait(time.Second)
			return p
		}
		p := start()
		p.press("half a message")
		p.stop() // at once: before the timer that saves

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
