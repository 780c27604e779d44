package dashboard

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/transcriptview"
)

// testDashboard is a rig with a server of recorded sessions. The preview is hidden until the test
// shows it.
type testDashboard struct {
	*rig
	server *tuitest.Server
	kept   keptTexts
}

// newTestDashboard returns a connected dashboard that lists the sessions.
func newTestDashboard(t *testing.T, width, height int, sessions ...protocol.Summary) *testDashboard {
	t.Helper()
	return newTestDashboardWith(t, func(*Config) {}, width, height, sessions...)
}

// newTestDashboardWith is newTestDashboard with a changed configuration.
func newTestDashboardWith(
	t *testing.T, change func(*Config), width, height int, sessions ...protocol.Summary,
) *testDashboard {
	t.Helper()
	before := now
	t.Cleanup(func() { now = before })
	now = tuitest.Start.Add(time.Minute)
	d := &testDashboard{server: tuitest.NewServer(), kept: keptTexts{}}
	d.rig = newRigWith(t, d.server, func(c *Config) {
		c.Home, c.Open = "", d.kept
		c.NewID = func() string { return "client-m1" }
		change(c)
	})
	d.send(tea.WindowSizeMsg{Width: width, Height: height})
	if width >= 120 || width >= 80 && height >= 30 {
		d.press("p") // hides the preview
	}
	d.send(ConnMsg{State: remote.Connected})
	d.put(sessions...)
	return d
}

// keptTexts are the unsent messages by session. No session is open.
type keptTexts map[string]string

func (keptTexts) IsOpen(string) bool                                        { return false }
func (keptTexts) Transcript(string) (*transcriptview.View, *protocol.State) { return nil, nil }
func (keptTexts) Closing(string) <-chan struct{}                            { return nil }
func (k keptTexts) KeepText(session, text string)                           { k[session] += text }

// opened returns the session that the last intent opens, or "".
func (d *testDashboard) opened() string {
	if n := len(d.intents); n > 0 {
		if open, ok := d.intents[n-1].(OpenIntent); ok {
			return open.Session
		}
	}
	return ""
}
