package sessionview

import (
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

func TestReconnectSummary(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 100, 40)
	s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
	s.applyJournal()
	s.now = s.now.Add(2*time.Minute + 5*time.Second)
	s.journal.Reconnect(protocol.ModeResume, 9)
	s.journal.RequestApproval(tuitest.CommandApproval())
	s.journal.AddBy(tuitest.Bob, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
		Request: "r1", Outcome: protocol.Allowed, Decision: protocol.AllowOnce,
	})
	s.journal.EndTurn(protocol.ReasonCompleted)
	s.journal.QueueMessage(tuitest.Bob, "m3", "next")
	s.applyJournal()
	s.mustHide("you reconnected here")
	s.journal.CaughtUp()
	s.applyJournal()
	s.mustShow(
		"── the connection was lost here",
		"── you reconnected here · away 2m05s · 1 turn ended · 1 message queued · 1 approval allowed",
		"bob",
	)
}

func TestAClosingConnectionIsShown(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 100, 40)
	s.mustHide("closing")
	s.journal.Conn(remote.Conn{State: remote.Closing})
	s.applyJournal()
	s.mustShow("○ closing")
	s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
	s.applyJournal()
	s.mustHide("closing")
	s.mustShow("○ reconnecting")
}

func TestDisconnectShowsAdvice(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 100, 30)
	s.journal.Conn(remote.Conn{
		State:   remote.Reconnecting,
		Attempt: 2,
		Reason:  "no such file",
		Advice:  "start one with: agentctl serve",
	})
	s.applyJournal()
	s.mustShow("no such file", "start one with: agentctl serve · F5 tries again now · you can read on")
}

func TestShortDisconnectNotMarked(t *testing.T) {
	for _, c := range []struct {
		away  time.Duration
		marks bool
	}{{2 * time.Second, false}, {time.Hour, true}} {
		s := open(t, tuitest.Scenes["transcript"](), 100, 40)
		s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
		s.applyJournal()
		s.now = s.now.Add(c.away)
		s.journal.Reconnect(protocol.ModeResume, 0)
		s.journal.CaughtUp()
		s.applyJournal()
		s.mustHide("the connection was lost here")
		if c.marks {
			s.mustShow("you reconnected here · away 1h00m · nothing was missed")
		} else {
			s.mustHide("you reconnected here")
		}
	}
}

func TestRepeatedDisconnectsNotMarked(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 100, 40)
	for range 20 {
		s.journal.Conn(remote.Conn{State: remote.Reconnecting, Attempt: 1})
		s.applyJournal()
		s.now = s.now.Add(2 * time.Second)
		s.journal.Reconnect(protocol.ModeResume, 1)
		s.journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: " word"})
		s.journal.CaughtUp()
		s.applyJournal()
	}
	s.mustShow("I look at the imports word word")
	s.mustHide("was lost here")
	s.mustHide("you reconnected here")
}

// The package describe tests every mode and reason with which a session continues.
func TestResumeModeMarked(t *testing.T) {
	for _, c := range []struct{ mode, reason, want string }{
		{protocol.ModeResume, protocol.ResumeReplayed, "── you reconnected here · what was missed was replayed"},
		{
			protocol.ModeReset, protocol.ResetEpoch,
			"── you reconnected here · the session's log was replaced: its current state",
		},
	} {
		s := open(t, tuitest.Scenes["transcript"](), 120, 40)
		at := &protocol.SubscribeResult{
			Session: "s1",
			Mode:    c.mode,
			Reason:  c.reason,
			After:   protocol.Position{Epoch: "e2", Seq: 7},
		}
		if c.mode == protocol.ModeReset {
			at.Snapshot = &protocol.Snapshot{Epoch: "e2", State: &protocol.State{Session: "s1", Seq: 7}}
		}
		s.journal.Pending = append(s.journal.Pending, remote.Update{Attached: at})
		s.journal.CaughtUp()
		s.applyJournal()
		s.mustShow(c.want)
	}
}

func TestCatchUpProgress(t *testing.T) {
	s := open(t, tuitest.Scenes["catching"](), 100, 24)
	s.mustShow("catching up █████░░░░░ 45%")
	draws := 0
	for range 500 {
		s.journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t3", Text: "x"})
		s.m.canvas.Dirty = false
		s.m.Update(s.journal.Take())
		if s.m.canvas.Dirty {
			draws++
		}
	}
	if draws != 50 {
		t.Errorf("got %d draws for half of a catch-up, want 50, one a percent", draws)
	}
	s.m.canvas.Dirty = true
	s.mustShow("catching up █████████░ 95%")
	s.journal.CaughtUp()
	s.applyJournal()
	s.mustHide("catching up")
}

func TestReconnectNow(t *testing.T) {
	s := open(t, tuitest.Scenes["reconnecting"](), 80, 24)
	s.mustShow("reconnecting in 4s (attempt 3)", "the connection was closed", "F5 tries again now")
	s.press("f5")
	s.mustHide("in 4s")
	if s.session.Retries != 1 {
		t.Errorf("got %d retries, want 1", s.session.Retries)
	}
	s.journal.Conn(remote.Conn{State: remote.Connected})
	s.applyJournal()
	s.press("f5")
	s.mustShow("◐ connected")
	if s.session.Retries != 1 {
		t.Error("F5 retries an open connection")
	}
}

func TestOfflineAdvice(t *testing.T) {
	s := open(t, tuitest.Scenes["offline"](), 80, 24)
	s.mustShow(
		"offline: connect to wss",
		"the token expired",
		"give a credential: --token or AGENTCTL_TOKEN",
		"F5 tries again now",
	)
	above := s.text()
	s.press("pgup")
	if s.text() == above {
		t.Error("the transcript does not scroll while offline")
	}
	s.press("f5")
	s.mustShow("○ connecting")
	if s.session.Retries != 1 {
		t.Errorf("got %d retries, want 1", s.session.Retries)
	}
	s.update(UpdatesEnded{})
	s.mustShow("the session has ended its updates")
	s.mustHide("F5")
	s.press("f5")
	s.mustShow("can no longer be reached")
}
