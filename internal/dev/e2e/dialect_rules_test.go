package e2e

import (
	"testing"
	"testing/synctest"
	"time"

	"agentctl/dialect"
	"agentctl/protocol"
)

// forEachDialect runs a test for each dialect, in virtual time.
func forEachDialect(t *testing.T, f func(t *testing.T, name string)) {
	for _, name := range dialect.Names() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { f(t, name) })
		})
	}
}

// in every dialect a message during a turn is queued and its sender informed. The turn runs
// on, and the message gets the next turn.
func TestAMessageDuringATurnWaitsInEveryDialect(t *testing.T) {
	forEachDialect(t, func(t *testing.T, name string) {
		w := newTestServer(t, `{"on":"*"}`, `{"say":"You said: {message}","words":1,"delay":"1s"}`)
		ann := w.client("ann")
		id := w.create(ann)
		c := w.dialectClient(name, id)
		s, reference := follow(t, name, c, id), follow(t, native, ann, id)
		synctest.Wait()
		w.send(c, id, "first")
		s.waitFor(protocol.TextDelta)
		if r := w.send(c, id, "second"); r.Status != protocol.SendQueued {
			t.Errorf("answered %+v", r)
		}
		for _, want := range []string{"You said: first", "You said: second"} {
			for _, each := range []*follower{s, reference} {
				each.waitFor(protocol.TurnEnded)
				if got := each.agentText(); got != want || each.lastTurn().End.Reason != protocol.ReasonCompleted {
					t.Errorf("%s: %q, ended %+v; want %q", each.dialect, got, each.lastTurn().End, want)
				}
			}
		}
	})
}

// in every dialect an approval request has no time limit, except that a MyAgent client's own
// turn denies after 300 s.
func TestARequestWaitsAsItsDialectHasIt(t *testing.T) {
	forEachDialect(t, func(t *testing.T, name string) {
		w := newTestServer(t, workScript...)
		ann := w.client("ann")
		id := w.create(ann)
		c := w.dialectClient(name, id)
		s := follow(t, name, c, id)
		w.send(c, id, "work")
		s.waitFor(protocol.ApprovalRequested)
		time.Sleep(299 * time.Second)
		pending := func() int {
			synctest.Wait()
			return len(do[protocol.SnapshotResult](t, ann, protocol.DoSnapshot, id, nil).Snapshot.State.Approvals)
		}
		if pending() != 1 {
			t.Fatal("the approval did not wait")
		}
		time.Sleep(time.Hour)
		want := 1
		if name == "myagent" {
			want = 0
		}
		if got := pending(); got != want {
			t.Fatalf("after an hour %d pending, want %d", got, want)
		}
		if name != "myagent" {
			return
		}
		if s.waitFor(protocol.TurnEnded); s.agentText() != "It is late. Kept it." {
			t.Errorf("agent text %q", s.agentText())
		}
	})
}

// a session runs on the server: a client of any dialect that disconnects during a turn does
// not affect it.
func TestASessionOutlivesItsClientInEveryDialect(t *testing.T) {
	forEachDialect(t, func(t *testing.T, name string) {
		w := newTestServer(t, `{"on":"*"}`, `{"say":"one two three four five","words":1,"delay":"1s"}`)
		ann := w.client("ann")
		id := w.create(ann)
		reference := follow(t, native, ann, id)
		c := w.dialectClient(name, id)
		s := follow(t, name, c, id)
		w.send(c, id, "go")
		s.waitFor(protocol.TextDelta)
		_ = c.Close()
		reference.waitFor(protocol.TurnEnded)
		if reference.agentText() != "one two three four five" ||
			reference.lastTurn().End.Reason != protocol.ReasonCompleted {
			t.Errorf("%q, ended %+v", reference.agentText(), reference.lastTurn().End)
		}
	})
}

// X-22, MY-13: in every dialect, denying a plan cancels it; after another denial the agent
// continues.
func TestADeniedPlanIsCancelledInEveryDialect(t *testing.T) {
	forEachDialect(t, func(t *testing.T, name string) {
		w := newTestServer(t, append(workScript, `{"on":"plan"}`, `{"plan":"how?","confirm":true,"tasks":[{"id":"1","title":"one","result":"done"}],"aggregate":"all","else":[{"say":"Then not."}]}`)...)
		ann := w.client("ann")
		id := w.create(ann)
		reference := follow(t, native, ann, id)
		c := w.dialectClient(name, id)
		s := follow(t, name, c, id)
		for text, want := range map[string]string{"plan": "Then not.", "work": "It is late. Kept it."} {
			w.send(c, id, text)
			s.waitFor(protocol.ApprovalRequested)
			do[protocol.ApproveResult](
				t, c, protocol.DoApprove, id,
				protocol.ApproveData{Request: s.state.Approvals[0].Request, Decision: protocol.Deny},
			)
			reference.waitFor(protocol.TurnEnded)
			if reference.agentText() != want {
				t.Errorf("%s: agent text %q", text, reference.agentText())
			}
			if p := reference.state.Plan; text == "plan" && (p == nil || p.Status != protocol.StatusCancelled) {
				t.Errorf("the plan: %+v", p)
			}
			s.waitFor(protocol.TurnEnded)
		}
	})
}
