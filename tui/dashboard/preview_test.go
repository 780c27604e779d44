package dashboard

import (
	"slices"
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/remote"
)

func TestPreviewReloadsAfterChange(t *testing.T) {
	d := newTestDashboard(t, 140, 30, tuitest.Summaries()...)
	d.server.SetPending()
	loads := func() int { subscriptions, _ := d.server.Requests(); return len(subscriptions) }
	d.press("p")
	d.want(
		"preview · release",
		"edit pkg/store/store.go",
		"Push the tags.",
		"They are right.",
		"Tidy the module",
		"+1 queued message",
	)
	loaded, commands := d.server.Requests()
	if len(loaded) != 1 || !slices.Equal(commands, []string{"s3 history"}) {
		t.Errorf("got previews %v, commands %v, want 1 preview and s3 history", loaded, commands)
	}
	changed := tuitest.Summaries()[2]
	d.put(changed)
	changed.Seq = 7
	d.put(changed)
	if loads() != 1 {
		t.Errorf("got %d previews, want 1 within 500 ms", loads())
	}
	now = now.Add(500 * time.Millisecond)
	d.put(changed)
	// The last turn is known: it needs no second history command.
	if loaded, commands = d.server.Requests(); len(loaded) != 2 || len(commands) != 1 {
		t.Errorf("got previews %v, commands %v, want 2 and 1", loaded, commands)
	}
	d.press("down")
	d.want("preview · s5xyz7")
	now = now.Add(500 * time.Millisecond)
	d.press("down")
	d.want("preview · fix-tests")
	if got, _ := d.server.Requests(); !slices.Equal(got, []string{"s3", "s3", "s5xyz789", "s2"}) {
		t.Errorf("got previews %v, want s3, s3, s5xyz789, s2", got)
	}
	now = now.Add(2 * time.Second)
	d.send(struct{}{})
	if loads() != 5 {
		t.Errorf("got %d previews, want 5 after 2 s of a running turn", loads())
	}
	d.press("p", "down")
	if loads() != 5 {
		t.Errorf("got %d previews, want 5 with the preview closed", loads())
	}
	if got := d.server.Subscribed(); len(got) != 0 {
		t.Errorf("got subscriptions to %v, want none", got)
	}
}

func TestPreviewShowsError(t *testing.T) {
	d := newTestDashboard(t, 80, 24, tuitest.Summaries()...)
	d.server.Journal = func(string) *tuitest.Journal {
		j := &tuitest.Journal{}
		j.Conn(remote.Conn{State: remote.Offline, Reason: "no such session"})
		return j
	}
	d.press("p")
	d.want("no such session")
	d.server.SetPending()
	d.send(ConnMsg{State: remote.Connected})
	d.want("They are right.")
}
