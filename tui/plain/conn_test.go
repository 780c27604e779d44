package plain

import (
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/tui/remote"
)

func TestAnOutageSaysOnceWhatWouldHelp(t *testing.T) {
	n := newRenderer(time.UTC)
	n.setConn(remote.Conn{State: remote.Connected})
	n.setConn(remote.Conn{State: remote.Reconnecting, Attempt: 1, Reason: "closed"})
	n.setConn(remote.Conn{State: remote.Reconnecting, Attempt: 2, Reason: "no such file", Advice: "start one with: agentctl serve"})
	n.setConn(remote.Conn{State: remote.Reconnecting, Attempt: 3, Reason: "no such file", Advice: "start one with: agentctl serve"})
	if got := n.out.String(); got != "reconnecting: closed\nstart one with: agentctl serve\n" {
		t.Errorf("told %q", got)
	}
}

func TestHowASessionGoesOnIsPrinted(t *testing.T) {
	for _, c := range []struct{ mode, reason, want string }{
		{protocol.ModeResume, protocol.ResumeReplayed, "── you reconnected here · what was missed was replayed"},
		{protocol.ModeResume, protocol.ResumeRestored, "── you reconnected here · restored from its saved state"},
		{protocol.ModeReset, protocol.ResetFresh, "── you reconnected here · a fresh snapshot: this is how it is now"},
		{protocol.ModeReset, protocol.ResetResubscribed, "── you reconnected here · followed again: what ended meanwhile is not told"},
		{protocol.ModeReset, protocol.ResetPastEnd, "── you reconnected here · the session's log was replaced (past_end): this is how it is now"},
	} {
		at := &protocol.SubscribeResult{Session: "s1", Mode: c.mode, Reason: c.reason, After: protocol.Position{Epoch: "e2", Seq: 7}}
		if c.mode == protocol.ModeReset {
			at.Snapshot = &protocol.Snapshot{Epoch: "e2", State: &protocol.State{Session: "s1", Seq: 7}}
		}
		n := newRenderer(time.UTC)
		n.state.Session = "s1"
		n.update(remote.Update{Attached: at})
		n.update(remote.Update{Event: &protocol.Event{Type: protocol.CaughtUp, Data: protocol.MustEncode(protocol.CaughtUpData{})}})
		if words := strings.TrimPrefix(c.want, "── you reconnected here · "); !strings.Contains(n.out.String(), words) {
			t.Errorf("%s %s: the lines say %q", c.mode, c.reason, n.out.String())
		}
	}
}
