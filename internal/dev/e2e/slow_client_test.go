package e2e

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"agentctl/internal/dev/thorough"
	"agentctl/protocol"
	"agentctl/wsclient"
)

// A stalledClient consumes one event and then nothing until resume is closed.
type stalledClient struct {
	stalled, resume chan struct{}
	result          <-chan *observer
}

func newStalledClient(ctx context.Context, c *wsclient.Client, id string) *stalledClient {
	s := &stalledClient{stalled: make(chan struct{}), resume: make(chan struct{})}
	first := true
	s.result = async(func() *observer {
		return observe(ctx, c, id, wsclient.SubscribeOptions{Since: logStart()}, func(e *protocol.Event) bool {
			if first {
				first = false
				close(s.stalled)
				<-s.resume
			}
			return e.Type == protocol.TurnEnded
		})
	})
	return s
}

func TestClientsThatDoNotReadCostTheOthersNothingAndCatchUp(t *testing.T) {
	const size = 100
	deltas := thorough.Rounds(200_000, 200_000)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	w := newTestServer(t, `{"on":"*"}`, `{"wait":"start"}`, fmt.Sprintf(`{"burst":%d,"size":%d}`, deltas, size))
	ann := w.client("ann")
	id := w.create(ann)
	w.send(ann, id, "go")
	all := map[string]*stalledClient{
		"with a window":    newStalledClient(ctx, w.client("slow"), id),
		"without a window": newStalledClient(ctx, w.client("slower", func(o *wsclient.Options) { o.Window = -1 }), id),
	}
	for _, s := range all {
		<-s.stalled
	}
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()

	fast := w.client("fast")
	seen := async(func() *protocol.Event {
		for it, err := range fast.Subscribe(id, wsclient.SubscribeOptions{Since: logStart()}).Events(ctx) {
			if err != nil || it.Event != nil && it.Event.Type == protocol.TurnEnded {
				return it.Event
			}
		}
		return nil
	})
	began := time.Now()
	w.script.OpenGate("start")
	end := <-seen
	if end == nil {
		t.Fatal("the fast client did not see the end")
	}
	t.Logf("%d events in %v for the fast client", end.Seq, time.Since(began))
	if grown := heap() - before; grown > 24<<20 {
		t.Errorf("with clients %d events behind the heap grew by %d MiB", end.Seq, grown>>20)
	}
	for _, c := range do[protocol.SnapshotResult](t, ann, protocol.DoSnapshot, id, nil).Clients {
		// The lag is visible, and at most a window is in flight.
		if c.By.Name == "slow" &&
			(c.LagEvents < end.Seq*9/10 || c.LagBytes == 0 || c.LagBytes > protocol.DefaultWindow) {
			t.Errorf("the slow client's lag: %+v", c)
		}
	}
	for name, s := range all {
		close(s.resume)
		got := <-s.result
		if got.err != nil {
			t.Fatalf("%s: %v", name, got.err)
		}
		if got.state.Seq != end.Seq || len(got.text()) != deltas*size {
			t.Errorf("%s: ends at %d with %d bytes of text, not at %d", name, got.state.Seq, len(got.text()), end.Seq)
		}
		t.Logf("%s: caught up with %d messages", name, len(got.raw))
	}
}
