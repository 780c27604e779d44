package tui

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/replay"
)

// record returns the recording of a journal.
func record(t *testing.T, j *tuitest.Journal) *replay.Recording {
	t.Helper()
	recording := new(replay.Recording)
	for _, u := range j.Take() {
		if u.Event == nil {
			continue
		}
		if err := recording.Add(u.Event); err != nil {
			t.Fatal(err)
		}
	}
	return recording
}

func TestReplayDoesNotAlert(t *testing.T) {
	recording := record(t, tuitest.Conversation())
	for _, c := range []struct {
		session remote.Session
		alerts  bool
	}{{tuitest.NewFakeSession(), true}, {replay.NewPlayer(recording, 0), false}} {
		build := testBuilder(t.Context(), Options{Env: []string{}}, time.Now, func() string { return "" })
		p := build.newSession(c.session)
		p.notifier.Update(tea.BlurMsg{})
		state := &protocol.State{}
		p.notifier.Follow(state)
		state.Approvals = []protocol.Approval{tuitest.CommandApproval()}
		if cmd := p.notifier.Follow(state); (cmd != nil) != c.alerts {
			t.Errorf("%T: alert %v, want %v", c.session, cmd != nil, c.alerts)
		}
	}
}

func TestReplayOnTheScreen(t *testing.T) {
	recording := record(t, tuitest.Conversation()) // 28 events, one a second
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		keys, typing := io.Pipe()
		build := testBuilder(ctx, Options{}, time.Now, func() string { return "" })
		p := &sessionProgram{program: build.newSession(replay.NewPlayer(recording, 2*time.Second))}
		out := &tuitest.Output{}
		ended := make(chan error, 1)
		go func() {
			ended <- build.run(p.program, p, testProgramOptions(keys, out, 100, 20)...)
		}()
		press := func(key string) {
			if _, err := typing.Write([]byte(key)); err != nil {
				t.Error(err)
			}
			tuitest.Wait(100 * time.Millisecond)
		}
		mustShow := func(want ...string) {
			t.Helper()
			for _, w := range want {
				if screen := p.screen(); !strings.Contains(screen, w) {
					t.Errorf("the screen does not show %q:\n%s", w, screen)
				}
			}
		}
		tuitest.Wait(1500 * time.Millisecond)
		mustShow("The test in pkg/store fails", "playing · turn 1 of 2 · 00:01 / 00:27 · 1×")
		press("]")
		mustShow("Thanks. Now tidy the module.", "completed", "playing · turn 2 of 2")
		press(" ")
		mustShow("paused · turn 2 of 2")
		tuitest.Wait(time.Hour)
		mustShow("paused · turn 2 of 2")
		if strings.Contains(p.screen(), "I look at the imports") {
			t.Errorf("a paused replay continues:\n%s", p.screen())
		}
		press("[") // the turn has just begun
		mustShow("paused · turn 1 of 2 · 00:01 /", "The test in pkg/store fails")
		if strings.Contains(p.screen(), "reconnected") {
			t.Errorf("a replay shows an outage:\n%s", p.screen())
		}
		press("+++++ ")
		mustShow("end · turn 2 of 2 · 00:27 / 00:27 · as fast as possible", "I look at the imports")
		_ = typing.Close() // always returns nil
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
