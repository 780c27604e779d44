package dashboard

import (
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// Whatever comes shortly after a deciding key cancels its decision, and the screen says so.
func TestTheDecisionOfAKeyIsHeldInTheDashboard(t *testing.T) {
	const tooFast = "the keys came too fast"
	for name, c := range map[string]struct {
		before  []string
		happens func(*testDashboard)
		want    string // on the screen; "" if the key decides
	}{
		"nothing":         {nil, func(*testDashboard) {}, ""},
		"view":            {[]string{"v"}, func(*testDashboard) {}, ""},
		"a letter":        {nil, func(d *testDashboard) { d.send(tuitest.KeyPress("x")) }, tooFast},
		"in the view":     {[]string{"v"}, func(d *testDashboard) { d.send(tuitest.KeyPress("down")) }, tooFast},
		"back":            {nil, func(d *testDashboard) { d.send(tuitest.KeyPress("esc")) }, tooFast},
		"ctrl+c":          {nil, func(d *testDashboard) { d.send(tuitest.KeyPress("ctrl+c")) }, "ctrl+c again leaves"},
		"another summary": {nil, func(d *testDashboard) { d.put(tuitest.Summaries()...) }, ""},
		"palette": {nil, func(d *testDashboard) {
			d.send(tuitest.KeyPress("ctrl+k"))
			d.d.overlays.Remove(d.d.overlays.Top())
		}, tooFast},
		"decided elsewhere": {nil, func(d *testDashboard) {
			d.put(protocol.Summary{Session: "s3", Name: "release", Status: protocol.Running, Updated: tuitest.Start})
		}, "it was decided elsewhere"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newTestDashboard(t, 120, 30, tuitest.Summaries()...)
			d.openApproval(tuitest.CommandApproval())
			d.press(c.before...)
			d.waitGrace()
			d.send(tuitest.KeyPress("y"))
			if got := d.decisions(); len(got) > 0 {
				t.Fatalf("decided %+v before another key can come", got)
			}
			now = now.Add(150*time.Millisecond - 1)
			c.happens(d)
			d.fireTimers()
			if c.want != "" {
				d.want(c.want)
			}
			now = now.Add(1)
			d.fireTimers()
			if got := d.decisions(); len(got) > 0 != (c.want == "") {
				t.Errorf("got the decisions %+v", got)
			}
			if d.d.overlays.Top() != nil && c.want == "" {
				t.Errorf("the request stays open:\n%s", d.screen())
			}
		})
	}
}
