package server

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"agentctl/protocol"
	"agentctl/server/session"
)

// brokenStore cannot read events while it is broken.
type brokenStore struct {
	session.Store
	broken *atomic.Bool
}

func (s brokenStore) Read(ctx context.Context, id string, after, through uint64, folded bool, max int, dst []byte) ([]byte, uint64, error) {
	if s.broken.Load() {
		return nil, after, fmt.Errorf("read /secret/path: %w", session.ErrCorrupt)
	}
	return s.Store.Read(ctx, id, after, through, folded, max, dst)
}

// A log that cannot be read ends the subscription, with a reason that tells no detail, and nothing
// else.
func TestUnreadableLogEndsTheSubscriptionAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken atomic.Bool
		w := newWorld(t, func(w *world) { w.wrap = func(s session.Store) session.Store { return brokenStore{s, &broken} } })
		id := w.turn("much")
		synctest.Wait() // who sent it is gone
		c := w.dial().pump()
		broken.Store(true)
		if m := c.ask(protocol.DoSubscribe, id, subscribeDataRaw()); m.Error != nil {
			t.Fatal(m.Error)
		}
		lost := ofType(c.settled(), protocol.ClientDetached)
		if len(lost) != 1 || decoded[protocol.Client](t, lost[0]).Reason != string(protocol.CodeStorage) {
			t.Fatalf("came %+v", lost)
		}
		c.refused(c.ask(protocol.DoUnsubscribe, id, nil), protocol.CodeNotSubscribed)
		broken.Store(false)
		c.ask(protocol.DoSubscribe, id, subscribeDataRaw())
		list, _ := events(c.settled(), id)
		follows(t, 0, list)
		if len(list) < 3000 {
			t.Errorf("%d events came when it could be read again", len(list))
		}
	})
}

func TestClientThatLagsHearsOfADeletion(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		id := w.turn("large")
		c, other := w.dial().pump(), w.dial().pump()
		c.ask(protocol.DoHello, "", protocol.HelloData{Acks: true, Window: 1000})
		c.ask(protocol.DoSubscribe, id, subscribeDataRaw())
		c.settled()
		other.ask(protocol.DoClose, id, protocol.CloseData{Delete: true})
		got := c.settled()
		if told := ofType(got, protocol.SummaryChanged); len(told) != 1 || !decoded[protocol.Summary](t, told[0]).Deleted {
			t.Errorf("of the deletion came %+v", told)
		}
		lost := ofType(got, protocol.ClientDetached)
		if len(lost) != 1 || decoded[protocol.Client](t, lost[0]).Reason != string(protocol.CodeNoSession) {
			t.Errorf("of the end of the subscription came %+v", lost)
		}
	})
}
