package plain

import (
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/tui/remote"
)

func TestOutagePrintsAdviceOnce(t *testing.T) {
	const advice = "start one with: agentctl serve"
	r := newRenderer(time.UTC)
	r.setConn(remote.Conn{State: remote.Connected})
	r.setConn(remote.Conn{State: remote.Closing})
	r.setConn(remote.Conn{State: remote.Reconnecting, Attempt: 1, Reason: "closed"})
	r.setConn(remote.Conn{State: remote.Reconnecting, Attempt: 2, Reason: "no such file", Advice: advice})
	r.setConn(remote.Conn{State: remote.Reconnecting, Attempt: 3, Reason: "no such file", Advice: advice})
	if got, want := r.out.String(), "reconnecting: closed\n"+advice+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReconnectModeIsPrinted(t *testing.T) {
	for _, c := range []struct{ mode, reason, want string }{
		{protocol.ModeResume, protocol.ResumeReplayed, "what was missed was replayed"},
		{protocol.ModeReset, protocol.ResetPastEnd, "the session's log was replaced: its current state"},
	} {
		result := &protocol.SubscribeResult{
			Session: "s1", Mode: c.mode, Reason: c.reason, After: protocol.Position{Epoch: "e2", Seq: 7},
		}
		if c.mode == protocol.ModeReset {
			result.Snapshot = &protocol.Snapshot{Epoch: "e2", State: &protocol.State{Session: "s1", Seq: 7}}
		}
		r := newRenderer(time.UTC)
		r.state.Session = "s1"
		r.update(remote.Update{Attached: result})
		r.update(remote.Update{Event: &protocol.Event{
			Type: protocol.CaughtUp, Data: protocol.MustEncode(protocol.CaughtUpData{}),
		}})
		if got := r.out.String(); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: got %q, want %q in it", c.mode, c.reason, got, c.want)
		}
	}
}

func TestResetDropsOpenParts(t *testing.T) {
	r := newRenderer(time.UTC)
	r.state.Session = "s1"
	r.buffer("t1", "").append(r, "dropped")
	r.update(remote.Update{Attached: &protocol.SubscribeResult{
		Session: "s1", Mode: protocol.ModeReset, Reason: protocol.ResetFresh,
		Snapshot: &protocol.Snapshot{Epoch: "e2", State: &protocol.State{Session: "s1", Seq: 7}},
	}})
	r.buffer("t2", "").append(r, "kept")
	r.flushParts()
	if got := r.out.String(); strings.Contains(got, "dropped") || !strings.HasSuffix(got, "agent: kept\n") {
		t.Errorf("got %q, want only the part after the reset", got)
	}
}
