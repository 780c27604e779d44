package tui

import (
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
)

// A request without an answer stays visible while keys change the last line of the list.
func TestAServerThatDoesNotAnswerIsShownInTheList(t *testing.T) {
	d := newTestDashboard(t, 100, 24, tuitest.Summaries()...)
	d.press("ctrl+x")
	d.wantText("interrupt the turns of")
	d.press("right")
	_, stalled := d.p.Update(tuitest.KeyPress("enter"))
	d.now = d.now.Add(4 * time.Second)
	d.fireTimers()
	d.wantText("○ no answer for 4s sending to 1 session")
	d.press("down")
	d.wantText("○ no answer for 4s enter open")
	d.press("+")
	d.wantText("○ no answer for 4s tab next field")
	d.press("esc")
	d.run(stalled)
	d.wantNoText("no answer")
}
