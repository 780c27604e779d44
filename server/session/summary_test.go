package session

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
)

func TestAnAnswerFollowsItsEffectOnTheList(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		var listed []protocol.Summary
		c := newCommand(protocol.DoClose, id, protocol.CloseData{})
		r.hub.Do(context.Background(), &c, anna, func(_ json.RawMessage, err error) {
			listed = r.hub.Sessions().List(false)
			if err != nil {
				t.Error(err)
			}
		})
		r.waitIdle()
		if len(listed) != 0 || len(r.hub.Sessions().List(true)) != 1 {
			t.Errorf("at the answer %+v", listed)
		}
	})
}

func TestASummaryIsTheSessionInOneLine(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		d := protocol.CreateData{Name: "n", Title: "t", CWD: t.TempDir()}
		made := must[protocol.CreateResult](r, r.do(anna, newCommand(protocol.DoCreate, "", d)))
		id := made.Session
		now := func() protocol.Summary {
			r.waitIdle()
			return r.hub.Sessions().List(true)[0]
		}
		if s := now(); s.Session != id || s.Name != "n" || s.Title != "t" || s.CWD != d.CWD || s.Agent != "fake" ||
			s.Status != protocol.Idle ||
			s.Epoch != made.Position.Epoch || s.Created.IsZero() || s.Queue != 0 || s.Held ||
			s.Approvals != 0 ||
			s.Asked != nil ||
			s.Reason != "" {
			t.Errorf("created: %+v", s)
		}
		must[protocol.QueueHoldResult](r, r.do(anna, newCommand(protocol.DoQueueHold, id, protocol.QueueHoldData{})))
		if s := now(); s.Held {
			t.Error("an empty queue is held")
		}
		must[protocol.QueueReleaseResult](
			r,
			r.do(anna, newCommand(protocol.DoQueueRelease, id, protocol.QueueReleaseData{})),
		)
		turn := r.send(id, "go").Turn
		r.send(id, "later")
		r.agents.run().emit(agent.Event{Type: protocol.ContextUpdated, Data: protocol.ContextInfo{Percent: 12.5}})
		r.agents.run().ask(protocol.Approval{Request: "a", Kind: protocol.ApproveQuestion, Title: "?"})
		r.waitIdle()
		asked := time.Now()
		time.Sleep(time.Minute)
		r.agents.run().ask(protocol.Approval{Request: "b", Kind: protocol.ApproveQuestion, Title: "?"})
		if s := now(); s.Turn != turn || s.Queue != 1 || s.Held || s.Approvals != 2 || s.Asked == nil ||
			s.Asked.After(asked) ||
			s.Percent != 12.5 ||
			s.Seq != r.state(id).Seq {
			t.Errorf("asking: %+v", s)
		}
		must[protocol.InterruptResult](
			r,
			r.do(anna, newCommand(protocol.DoInterrupt, id, protocol.InterruptData{Queue: protocol.QueueHold})),
		)
		if s := now(); s.Turn != "" || !s.Held || s.Queue != 1 || s.Approvals != 0 || s.Asked != nil ||
			s.Reason != protocol.ReasonInterrupted {
			t.Errorf("interrupted: %+v", s)
		}
		must[protocol.Empty](r, r.do(anna, newCommand(protocol.DoRename, id, protocol.RenameData{Title: new("u")})))
		if s := now(); s.Title != "u" || s.Name != "n" {
			t.Errorf("renamed: %+v", s)
		}
		must[protocol.Empty](r, r.do(anna, newCommand(protocol.DoClose, id, protocol.CloseData{Reason: "done"})))
		events := r.events(id, false)
		var closed protocol.SessionClosedData
		if _ = events[len(events)-1].Decode(&closed); closed.Reason != "done" {
			t.Errorf("closed: %+v", closed)
		}
	})
}

func TestReadingIsNoActivity(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.waitIdle()
		updated := func() time.Time { return r.hub.Sessions().List(true)[0].Updated }
		created := updated()
		if created.Nanosecond()%int(time.Millisecond) != 0 {
			t.Errorf("updated %v has more than milliseconds", created)
		}
		time.Sleep(time.Hour)
		r.look(id)
		r.waitIdle()
		time.Sleep(time.Hour)
		r.restart()
		r.look(id)
		r.waitIdle()
		if got := updated(); !got.Equal(created) {
			t.Errorf("updated %v after a look at a session that was created at %v", got, created)
		}
		r.send(id, "go")
		if got := updated(); got.Sub(created) < 2*time.Hour {
			t.Errorf("updated %v after a message", got)
		}
		for range 10 {
			r.agents.run().emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "word"}})
		}
		r.waitIdle()
		if got, want := r.hub.Sessions().List(true)[0].Seq, r.state(id).Seq; got != want {
			t.Errorf("seq %d in the list, %d in the session", got, want)
		}
	})
}

// A session that writes publishes its summary for the last line at most once a second.
func TestOutputIsInTheSummaryAtMostOnceASecond(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "go")
		run := r.agents.run()
		run.emit(agent.Event{Type: protocol.TextStart, Data: protocol.PartStartData{Part: "p"}})
		r.waitIdle()
		w := &countingWatcher{}
		r.hub.Sessions().Watch(w)
		for range 500 {
			run.emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "word "}})
			time.Sleep(10 * time.Millisecond)
		}
		r.waitIdle()
		if n := w.count.Load(); n < 4 || n > 6 {
			t.Errorf("%d summaries in 5 seconds of text, want about one a second", n)
		}
		if got := r.hub.Sessions().List(true)[0].Output; !strings.HasPrefix(got, "word word") {
			t.Errorf("output %q", got)
		}
	})
}

// countingWatcher counts summaries.
type countingWatcher struct{ count atomic.Int32 }

func (w *countingWatcher) Notify(string, []byte) { w.count.Add(1) }
