package panel

import (
	"context"
	"iter"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/paneltest"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

// nativeSession is a session of a server that continues updates, as native servers do.
type nativeSession struct{ *tuitest.FakeSession }

// Resumes implements [remote.Resumer].
func (nativeSession) Resumes() bool { return true }

// UpdatesSince implements [remote.Resumer].
func (s nativeSession) UpdatesSince(ctx context.Context, _ protocol.Position) iter.Seq[remote.Update] {
	return s.Updates(ctx)
}

// livenessRig is the liveness of a session whose turn runs.
type livenessRig struct {
	*paneltest.Rig
	t      *testing.T
	l      *Liveness
	hidden bool
}

func openLiveness(t *testing.T, j *tuitest.Journal) *livenessRig {
	t.Helper()
	r := &livenessRig{Rig: paneltest.New(t, j), t: t}
	r.Commands.Session = nativeSession{r.Session}
	r.l = &Liveness{
		Base:   Base{Styles: r.Styles, Replica: r.Replica, Commands: r.Commands, Now: r.Now},
		Hidden: func() bool { return r.hidden },
	}
	r.Apply = r.l.Apply
	r.update()
	return r
}

// update applies the journal as one frame.
func (r *livenessRig) update() {
	r.ApplyJournal()
	r.l.Updated()
}

// ask moves the time to the deadline and returns the question.
func (r *livenessRig) ask(after time.Duration) tea.Cmd {
	r.t.Helper()
	at := r.l.Deadline()
	if got := at.Sub(r.Time); at.IsZero() || got != after {
		r.t.Fatalf("asks after %v, want %v", got, after)
	}
	r.Time = at
	cmd, _ := r.l.Due()
	return cmd
}

func TestASilentServerIsAskedEvery3Seconds(t *testing.T) {
	r := openLiveness(t, tuitest.Scenes["transcript"]())
	for range 3 {
		r.Run(r.ask(3 * time.Second))
		r.MustSend(protocol.DoPing)
		r.Time = r.Time.Add(time.Second)
		r.l.heard = r.Time // the answer takes a second
	}
	r.Time = r.Time.Add(2 * time.Second)
	r.Journal.Text("t9", "more")
	r.update()
	unanswered := r.ask(3 * time.Second) // from the last event
	if !r.l.Deadline().IsZero() {
		t.Error("asks again without an answer")
	}
	r.Time = r.Time.Add(3 * time.Second)
	if got := r.Commands.Answers.Text(); got != "no answer for 3s" {
		t.Errorf("got %q", got)
	}
	r.Run(unanswered)
	if got := r.Commands.Answers.Text(); got != "" || r.l.Deadline().IsZero() {
		t.Errorf("after the answer: %q, deadline %v", got, r.l.Deadline())
	}
}

// An idle screen has no timer.
func TestNothingIsAskedWithoutWork(t *testing.T) {
	for name, change := range map[string]func(*livenessRig){
		"no turn":       func(r *livenessRig) { r.Journal.EndTurn(protocol.ReasonCompleted) },
		"hidden":        func(r *livenessRig) { r.hidden = true },
		"disconnected":  func(r *livenessRig) { r.Journal.Conn(remote.Conn{State: remote.Reconnecting}) },
		"a recording":   func(r *livenessRig) { r.Replica.Recorded = true },
		"another":       func(r *livenessRig) { r.Commands.Session = r.Session },
		"a decision":    func(r *livenessRig) { r.Journal.RequestApproval(tuitest.CommandApproval()) },
		"a catch-up":    func(r *livenessRig) { r.Replica.CaughtUp = false },
		"agent started": func(r *livenessRig) { r.Replica.Process = &protocol.AgentProcess{} },
	} {
		r := openLiveness(t, tuitest.Scenes["transcript"]())
		change(r)
		r.update()
		if at := r.l.Deadline(); !at.IsZero() {
			t.Errorf("%s: asks at %v", name, at)
		}
	}
}

func TestTheSilenceOfTheAgentIsMeasured(t *testing.T) {
	r := openLiveness(t, tuitest.Scenes["transcript"]())
	r.Journal.Text("t9", "more")
	r.update()
	mustBe := func(want time.Duration) {
		t.Helper()
		if got := r.l.Silence(); got != want {
			t.Errorf("silent for %v, want %v", got, want)
		}
	}
	r.Time = r.Time.Add(silentAfter - time.Second)
	mustBe(0)
	r.Time = r.Time.Add(time.Second)
	r.Journal.Turn = ""
	r.Journal.QueueMessage(tuitest.Ada, "m9", "of the user")
	r.update()
	mustBe(40 * time.Second)
	r.Journal.Turn = r.Replica.State.Turn.Turn
	r.Journal.RequestApproval(tuitest.CommandApproval())
	r.update()
	r.Time = r.Time.Add(time.Hour)
	mustBe(0) // the agent waits
	r.Journal.EndTurn(protocol.ReasonCompleted)
	r.update()
	mustBe(0)
}
