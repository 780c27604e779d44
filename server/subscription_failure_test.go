package server

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/session"
)

// failingStore fails to read events while broken is set.
type failingStore struct {
	session.Store
	broken *atomic.Bool
}

func (s failingStore) Read(
	ctx context.Context,
	id string,
	after, through uint64,
	folded bool,
	max int,
	dst []byte,
) ([]byte, uint64, error) {
	if s.broken.Load() {
		return nil, after, fmt.Errorf("read /secret/path: %w", eventlog.ErrCorrupt)
	}
	return s.Store.Read(ctx, id, after, through, folded, max, dst)
}

// A log that cannot be read ends only the subscription, with a code and no detail.
func TestUnreadableLogEndsTheSubscriptionAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		w := newTestServer(
			t,
			func(w *testServer) {
				w.wrap = func(s session.Store) session.Store { return failingStore{s, &broken} }
				w.bounds.LogMemory = 1 // events dropped from memory are read from the store
			},
		)
		id := w.runTurn("much")
		synctest.Wait() // the sender has disconnected
		c := w.dial().collect()
		broken.Store(true)
		if m := c.ask(protocol.DoSubscribe, id, subscribeDataRaw()); m.Error != nil {
			t.Fatal(m.Error)
		}
		lost := ofType(c.all(), protocol.ClientDetached)
		if len(lost) != 1 || decode[protocol.Client](t, lost[0]).Reason != string(protocol.CodeCorrupt) {
			t.Fatalf("received %+v", lost)
		}
		c.refused(c.ask(protocol.DoUnsubscribe, id, nil), protocol.CodeNotSubscribed)
		broken.Store(false)
		c.ask(protocol.DoSubscribe, id, subscribeDataRaw())
		list, _ := events(c.all(), id)
		follows(t, 0, list)
		if len(list) < 3000 {
			t.Errorf("%d events after the store recovered", len(list))
		}
	})
}

func TestClientThatLagsHearsOfADeletion(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		id := w.runTurn("large")
		c, other := w.dial().collect(), w.dial().collect()
		c.ask(protocol.DoHello, "", protocol.HelloData{Acks: true, Window: 1000})
		c.ask(protocol.DoSubscribe, id, subscribeDataRaw())
		c.all()
		other.ask(protocol.DoClose, id, protocol.CloseData{Delete: true})
		got := c.all()
		if changed := ofType(got, protocol.SummaryChanged); len(changed) != 1 ||
			!decode[protocol.Summary](t, changed[0]).Deleted {
			t.Errorf("after the deletion: %+v", changed)
		}
		lost := ofType(got, protocol.ClientDetached)
		if len(lost) != 1 || decode[protocol.Client](t, lost[0]).Reason != string(protocol.CodeNoSession) {
			t.Errorf("end of the subscription: %+v", lost)
		}
	})
}
