package e2e

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

// lose ends a world's server and starts it again without what it stored.
func (w *world) lose() {
	w.stop()
	w.dir = w.t.TempDir()
	w.start()
}

// MY-33 to MY-35: a server of ours that lost its store gives the session back to a client that has its exported state: the log goes on under
// its name, with what was asked of the agent since, and a turn that was under way is over. Who has no state is told that the session is gone.
func TestALostStoreCostsNoSessionThatWasExported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := open(t, `{"on":"hang"}`, `{"say":"working"}`, `{"ask":"command","request":"r{n}","command":"ls","title":"List"}`, `{"on":"*"}`, `{"say":"turn {n}, heard {message}","words":1}`)
		id := w.create(w.client("ann"))
		proxy := newCutter(w)
		slow := func(o *wsclient.Options) { o.Dial, o.Rand = proxy.Dial, func() float64 { return 0 } }
		c := w.speaking("myagent", id, slow)
		s := sit(t, "myagent", c, id)
		w.send(c, id, "one")
		s.until(protocol.TurnEnded)
		do[protocol.ExportResult](t, c, protocol.DoExport, id, nil)
		w.send(c, id, "two")
		s.until(protocol.TurnEnded)
		w.send(c, id, "hang")
		s.until(protocol.ApprovalRequested)
		w.send(c, id, "three")
		s.until(protocol.QueueAdded)

		proxy.cut()
		w.lose()
		proxy.mend()
		s.until(protocol.CaughtUp)
		if at := s.attached[len(s.attached)-1]; at.Mode != protocol.ModeResume || at.Reason != protocol.ResumeRestored || at.Session != id {
			t.Errorf("attached by %s %s as %s", at.Mode, at.Reason, at.Session)
		}
		if end := s.last().End; s.state.Turn != nil || end.Reason != protocol.ReasonError || end.Code != protocol.CodeServerRestart {
			t.Errorf("the turn under way ended %+v", end)
		}
		if len(s.state.Queue) != 0 || len(s.state.Approvals) != 0 {
			t.Errorf("the server is believed to have %+v and %+v", s.state.Queue, s.state.Approvals)
		}
		w.send(c, id, "four")
		s.until(protocol.TurnEnded)
		for i, want := range []string{"heard one", "heard two", "working", "heard four"} {
			if got := gist(s.transcript.Turns[i]); !strings.Contains(got, want) {
				t.Errorf("turn %d: %s", i+1, got)
			}
		}
		list := do[protocol.ListResult](t, w.client("bob"), protocol.DoList, "", nil)
		if len(list.Sessions) != 1 || list.Sessions[0].Session == id {
			t.Errorf("the server has %+v", list.Sessions)
		}

		// Cut again, it goes on from where it was, in the session that the server has now.
		proxy.cut()
		time.Sleep(time.Second)
		proxy.mend()
		s.until(protocol.CaughtUp)
		if at := s.attached[len(s.attached)-1]; at.Mode != protocol.ModeResume || at.Reason != protocol.ResumeReplayed {
			t.Errorf("attached by %s %s", at.Mode, at.Reason)
		}
	})
}
