package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/session/presence"
)

// testSubscriber is a Subscriber that acknowledges up to a seq set by the test.
type testSubscriber struct {
	name  string
	acked atomic.Uint64
	woken atomic.Int64

	mu       sync.Mutex
	notified []string
}

func (l *testSubscriber) Wake() { l.woken.Add(1) }

func (l *testSubscriber) Notify(_ string, line []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.notified = append(l.notified, string(line))
}

func (l *testSubscriber) ID() string                   { return l.name }
func (l *testSubscriber) Actor() protocol.Actor        { return protocol.Actor{Name: l.name} }
func (l *testSubscriber) Program() string              { return "test" }
func (l *testSubscriber) Acked(string) (uint64, int64) { return l.acked.Load(), 0 }

// attachMany attaches n subscribers.
func attachMany(t *testing.T, r *testHub, id string, n int) (all []*testSubscriber) {
	for i := range n {
		l := &testSubscriber{name: fmt.Sprintf("c%03d", i)}
		l.acked.Store(1 << 40)
		r.hub.Attach(t.Context(), id, l, &protocol.SubscribeData{}, func(_ *Attachment, err error) {
			if err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		all = append(all, l)
	}
	return all
}

// received returns the subjects of the events of a type that a subscriber was sent.
func (l *testSubscriber) received(typ protocol.Type) (clients []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.notified {
		if strings.Contains(line, `"type":"`+string(typ)+`"`) {
			_, rest, _ := strings.Cut(line, `"client":"`)
			client, _, _ := strings.Cut(rest, `"`)
			clients = append(clients, client)
		}
	}
	return clients
}

func TestAnAttachmentTellsNothingThatIsNotVisible(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "one")
		r.store.set(func() { r.store.latency = time.Second })
		send := r.start(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "two"}))
		synctest.Wait() // its commit is in flight
		var got *Attachment
		r.hub.Attach(
			context.Background(),
			id,
			&testSubscriber{name: "c1"},
			&protocol.SubscribeData{},
			func(a *Attachment, err error) {
				if err != nil {
					t.Error(err)
					return
				}
				now := a.Log.Position().Seq
				if a.Result.After.Seq > now || a.Result.Snapshot.State.Seq > now {
					t.Errorf(
						"snapshot at %d, events after %d, visible %d",
						a.Result.Snapshot.State.Seq,
						a.Result.After.Seq,
						now,
					)
				}
				got = a
			},
		)
		r.agents.run().finish(agent.End{}, nil)
		synctest.Wait() // its end is in the next commit
		r.waitIdle()
		if got == nil || send.replies != 1 {
			t.Error("not attached")
		}
	})
}

func TestWhoComesInMidRunReadsItFolded(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.send(id, "go")
		for range 200 {
			r.agents.run().emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "x"}})
		}
		r.waitIdle()
		r.hub.Attach(
			t.Context(),
			id,
			&testSubscriber{name: "c1"},
			&protocol.SubscribeData{},
			func(_ *Attachment, err error) {
				if err != nil {
					t.Error(err)
				}
			},
		)
		r.waitIdle()
		events := r.events(id, true)
		last := events[len(events)-1]
		if d, ok := last.Delta(); !ok || len(d.Text) != 200 || last.Seq-last.First() != 199 {
			t.Errorf("reads %s %d..%d at the end", last.Type, last.First(), last.Seq)
		}
	})
}

func TestADetachedConnectionIsNotWoken(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		r.store.set(func() { r.store.latency = time.Second })
		r.start(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "one"}))
		l := &testSubscriber{name: "c1"}
		for range 2 {
			r.hub.Attach(context.Background(), id, l, &protocol.SubscribeData{}, func(*Attachment, error) {})
		}
		r.waitIdle()
		r.hub.Detach(id, "c1", "gone")
		r.waitIdle()
		woken := l.woken.Load()
		r.start(anna, newCommand(protocol.DoSend, id, protocol.SendData{Text: "two"}))
		r.waitIdle()
		if l.woken.Load() != woken {
			t.Error("woken after detaching")
		}
	})
}

func TestAPositionIsResumedOrResetWithAReason(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		for range 3 {
			r.send(id, "x")
			r.agents.run().finish(agent.End{}, nil)
			r.waitIdle()
		}
		attach := func(p *protocol.Position) protocol.SubscribeResult {
			var result protocol.SubscribeResult
			r.hub.Attach(
				t.Context(),
				id,
				&testSubscriber{name: "c1"},
				&protocol.SubscribeData{Position: p},
				func(a *Attachment, err error) {
					if err != nil {
						t.Error(err)
						return
					}
					result = a.Result
				},
			)
			synctest.Wait()
			return result
		}
		now := attach(nil)
		if now.Session != id || len(now.Clients) != 1 || now.Clients[0].Client != "c1" ||
			now.Clients[0].By.Name != "c1" ||
			now.Clients[0].Agent != "test" {
			t.Errorf("attached to %q with %+v", now.Session, now.Clients)
		}
		if now.Mode != protocol.ModeSnapshot || now.After != now.Position || now.Snapshot.State.Turns != 3 {
			t.Errorf("without a position: %+v", now)
		}
		epoch, end := now.Position.Epoch, now.Position.Seq
		for _, c := range []struct {
			at           protocol.Position
			mode, reason string
		}{
			{protocol.Position{Epoch: epoch, Seq: 2}, protocol.ModeResume, ""},
			{protocol.Position{Seq: 2}, protocol.ModeResume, ""},
			{protocol.Position{Epoch: epoch, Seq: end}, protocol.ModeResume, ""},
			{protocol.Position{Epoch: epoch}, protocol.ModeResume, ""},
			{protocol.Position{Epoch: epoch, Seq: end + 1}, protocol.ModeReset, protocol.ResetPastEnd},
			{protocol.Position{Epoch: "other", Seq: 2}, protocol.ModeReset, protocol.ResetEpoch},
		} {
			got := attach(&c.at)
			if got.Mode != c.mode || got.Reason != c.reason {
				t.Errorf("%s: %s %s", c.at, got.Mode, got.Reason)
			}
			if c.mode == protocol.ModeResume &&
				(got.After != protocol.Position{Epoch: epoch, Seq: c.at.Seq} || got.Snapshot != nil) {
				t.Errorf("%s resumes after %s", c.at, got.After)
			}
			if c.mode == protocol.ModeReset && (got.Snapshot == nil || got.After.Seq != end) {
				t.Errorf("%s is reset to %s", c.at, got.After)
			}
		}
	})
}

func TestTheOthersAreToldWhoComesGoesAndLags(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		a, b := &testSubscriber{name: "c1"}, &testSubscriber{name: "c2"}
		a.acked.Store(1 << 40)
		for _, l := range []*testSubscriber{a, b} {
			r.hub.Attach(t.Context(), id, l, &protocol.SubscribeData{}, func(*Attachment, error) {})
			synctest.Wait()
		}
		notified := func(typ protocol.Type) (n int) {
			synctest.Wait()
			a.mu.Lock()
			defer a.mu.Unlock()
			for _, line := range a.notified {
				if strings.Contains(line, `"type":"`+string(typ)+`"`) && strings.Contains(line, `"client":"c2"`) &&
					strings.Contains(line, `"session":"`+id+`"`) {
					n++
				}
			}
			return n
		}
		if notified(protocol.ClientAttached) != 1 {
			t.Errorf("notified %q", a.notified)
		}
		r.send(id, "go")
		for range 100 {
			r.agents.run().emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "x"}})
		}
		time.Sleep(5 * time.Second)
		if notified(protocol.ClientLag) != 1 {
			t.Errorf("%d lag events", notified(protocol.ClientLag))
		}
		b.acked.Store(1 << 40)
		time.Sleep(5 * time.Second)
		if notified(protocol.ClientLag) != 2 {
			t.Errorf("%d lag events after catching up", notified(protocol.ClientLag))
		}
		r.hub.Detach(id, "c2", "gone")
		if notified(protocol.ClientDetached) != 1 {
			t.Errorf("notified %q", a.notified)
		}
	})
}

func TestAClientOfManyIsSentOnlyItsOwnLag(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		all := attachMany(t, r, id, presence.MaxListed+2)
		slow := all[5]
		slow.acked.Store(0)
		r.send(id, "go")
		for range 100 {
			r.agents.run().emit(agent.Event{Type: protocol.TextDelta, Data: protocol.PartDeltaData{Part: "p", Text: "x"}})
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		for _, l := range all {
			if got := l.received(protocol.ClientLag); l == slow && len(got) == 0 || l != slow && len(got) > 0 {
				t.Errorf("%s is sent the lag of %q", l.name, got)
			}
		}
	})
}

func TestTheDetachOfAnEditorIsAnnounced(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, r *testHub) {
		id := r.create()
		all := attachMany(t, r, id, presence.MaxListed+2)
		editor := all[len(all)-1]
		r.send(id, "one")
		queued := r.send(id, "two").MessageID
		r.do(Caller{By: anna.By, Conn: editor.name}, newCommand(protocol.DoQueueHold, id, protocol.QueueHoldData{
			MessageID: queued,
		}))
		r.hub.Detach(id, editor.name, "gone")
		synctest.Wait()
		if got := all[0].received(protocol.ClientDetached); !slices.Equal(got, []string{editor.name}) {
			t.Errorf("detached: %q", got)
		}
	})
}
