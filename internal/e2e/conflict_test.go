package e2e

import (
	"testing"
	"testing/synctest"
	"time"

	"agentctl/dialect"
	"agentctl/protocol"
)

// every runs a test over each dialect, in virtual time.
func every(t *testing.T, f func(t *testing.T, name string)) {
	for _, name := range dialect.Names() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, name) })
		})
	}
}

// a message during a turn is queued in every dialect and its sender is told so; what runs is neither cancelled nor refused, and
// the message has its turn after it.
func TestAMessageDuringATurnWaitsInEveryDialect(t *testing.T) {
	every(t, func(t *testing.T, name string) {
		w := open(t, `{"on":"*"}`, `{"say":"You said: {message}","words":1,"delay":"1s"}`)
		ann := w.client("ann")
		id := w.create(ann)
		c := w.speaking(name, id)
		s, truth := sit(t, name, c, id), sit(t, native, ann, id)
		synctest.Wait()
		w.send(c, id, "first")
		s.until(protocol.TextDelta)
		if r := w.send(c, id, "second"); r.Status != protocol.SendQueued {
			t.Errorf("answered %+v", r)
		}
		for _, want := range []string{"You said: first", "You said: second"} {
			for _, each := range []*seat{s, truth} {
				each.until(protocol.TurnEnded)
				if got := each.said(); got != want || each.last().End.Reason != protocol.ReasonCompleted {
					t.Errorf("%s: %q, ended %+v; want %q", each.tongue, got, each.last().End, want)
				}
			}
		}
	})
}

// a request waits as long as it takes, also over a dialect; but a MyAgent client's own turn is denied after its 300 s.
func TestARequestWaitsAsItsDialectHasIt(t *testing.T) {
	every(t, func(t *testing.T, name string) {
		w := open(t, working...)
		ann := w.client("ann")
		id := w.create(ann)
		c := w.speaking(name, id)
		s := sit(t, name, c, id)
		w.send(c, id, "work")
		s.until(protocol.ApprovalRequested)
		time.Sleep(299 * time.Second)
		pending := func() int {
			synctest.Wait()
			return len(do[protocol.SnapshotResult](t, ann, protocol.DoSnapshot, id, nil).Snapshot.State.Approvals)
		}
		if pending() != 1 {
			t.Fatal("it did not wait")
		}
		time.Sleep(time.Hour)
		want := 1
		if name == "myagent" {
			want = 0
		}
		if got := pending(); got != want {
			t.Fatalf("after an hour %d wait, want %d", got, want)
		}
		if name != "myagent" {
			return
		}
		if s.until(protocol.TurnEnded); s.said() != "It is late. Kept it." {
			t.Errorf("the agent said %q", s.said())
		}
	})
}

// a session lives on the server: a client of any dialect that goes in mid-turn takes nothing with it.
func TestASessionOutlivesItsClientInEveryDialect(t *testing.T) {
	every(t, func(t *testing.T, name string) {
		w := open(t, `{"on":"*"}`, `{"say":"one two three four five","words":1,"delay":"1s"}`)
		ann := w.client("ann")
		id := w.create(ann)
		truth := sit(t, native, ann, id)
		c := w.speaking(name, id)
		s := sit(t, name, c, id)
		w.send(c, id, "go")
		s.until(protocol.TextDelta)
		_ = c.Close()
		truth.until(protocol.TurnEnded)
		if truth.said() != "one two three four five" || truth.last().End.Reason != protocol.ReasonCompleted {
			t.Errorf("%q, ended %+v", truth.said(), truth.last().End)
		}
	})
}

// X-22, MY-13: who denies a plan, in whatever dialect, cancels it; after the denial of anything else the agent goes on.
func TestADeniedPlanIsCancelledInEveryDialect(t *testing.T) {
	every(t, func(t *testing.T, name string) {
		w := open(t, append(working, `{"on":"plan"}`, `{"plan":"how?","confirm":true,"tasks":[{"id":"1","title":"one","result":"done"}],"aggregate":"all","else":[{"say":"Then not."}]}`)...)
		ann := w.client("ann")
		id := w.create(ann)
		truth := sit(t, native, ann, id)
		c := w.speaking(name, id)
		s := sit(t, name, c, id)
		for text, want := range map[string]string{"plan": "Then not.", "work": "It is late. Kept it."} {
			w.send(c, id, text)
			s.until(protocol.ApprovalRequested)
			do[protocol.ApproveResult](t, c, protocol.DoApprove, id, protocol.ApproveData{Request: s.state.Approvals[0].Request, Decision: protocol.Deny})
			truth.until(protocol.TurnEnded)
			if truth.said() != want {
				t.Errorf("%s: the agent said %q", text, truth.said())
			}
			if p := truth.state.Plan; text == "plan" && (p == nil || p.Status != protocol.StatusCancelled) {
				t.Errorf("the plan: %+v", p)
			}
			s.until(protocol.TurnEnded)
		}
	})
}
