package e2e

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/wsclient"
)

func TestAClientThatDoesNotReadCostsTheOthersNothingAndCatchesUp(t *testing.T) {
	const deltas = 200_000
	for name, window := range map[string]int64{"with a window": 0, "without": -1} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			w := open(t, `{"on":"*"}`, `{"wait":"start"}`, fmt.Sprintf(`{"burst":%d,"size":100}`, deltas))
			ann := w.client("ann")
			id := w.create(ann)
			w.send(ann, id, "go")

			// The slow one takes what it is attached with and then nothing, until it is told to.
			slow := w.client("slow", func(o *wsclient.Options) { o.Window = window })
			stuck, goOn := make(chan struct{}), make(chan struct{})
			waited := false
			late := async(func() *witness {
				return watch(ctx, slow, id, wsclient.SubscribeOptions{Since: beginning()}, func(e *protocol.Event) bool {
					if !waited {
						waited = true
						close(stuck)
						<-goOn
					}
					return e.Type == protocol.TurnEnded
				})
			})
			<-stuck
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)

			quick := w.client("quick")
			seen := async(func() *protocol.Event {
				for it, err := range quick.Subscribe(id, wsclient.SubscribeOptions{Since: beginning()}).Events(ctx) {
					if err != nil {
						t.Error(err)
						return nil
					}
					if it.Event != nil && it.Event.Type == protocol.TurnEnded {
						return it.Event
					}
				}
				return nil
			})
			began := time.Now()
			w.script.OpenGate("start")
			end := <-seen
			if end == nil {
				t.Fatal("the quick one did not see the end")
			}
			t.Logf("%d events in %v for the quick one", end.Seq, time.Since(began))
			runtime.GC()
			runtime.ReadMemStats(&after)
			if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 24<<20 {
				t.Errorf("with a client %d events behind the heap grew by %d MiB", end.Seq, grown>>20)
			}

			close(goOn)
			got := <-late
			if got.err != nil {
				t.Fatal(got.err)
			}
			if got.state.Seq != end.Seq || len(got.text()) != deltas*100 {
				t.Errorf("the slow one ends at %d with %d bytes of text, not at %d", got.state.Seq, len(got.text()), end.Seq)
			}
			t.Logf("the slow one caught up with %d messages", len(got.raw))
		})
	}
}
