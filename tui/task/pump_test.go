package task

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/internal/panics"
	"agentctl/tui/remote"
)

func TestPumpAppliesBackpressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := tuitest.NewFakeSession()
		ctx, cancel := context.WithCancel(t.Context())
		var batches []int
		release := make(chan struct{})
		pumped := make(chan struct{})
		go func() {
			defer close(pumped)
			if err := Pump(ctx, r.Updates, func(b []remote.Update) {
				batches = append(batches, len(b))
				<-release
			}); err != nil {
				t.Error(err)
			}
		}()
		fed := 0
		go func() {
			for range 3 * MaxBatch {
				select {
				case r.Feed <- remote.Update{Conn: &remote.Conn{}}:
					fed++
				case <-ctx.Done():
					return
				}
			}
		}()
		synctest.Wait()
		if most := cap(r.Feed) + 8; fed > most {
			t.Errorf("got %d updates taken from the session of a busy screen, want at most %d", fed, most)
		}
		close(release)
		tuitest.Wait(time.Second)
		cancel()
		<-pumped
		total := 0
		for _, n := range batches {
			total += n
			if n > MaxBatch {
				t.Errorf("got a batch of %d, want at most %d", n, MaxBatch)
			}
		}
		if total != 3*MaxBatch {
			t.Errorf("got %d updates, want %d", total, 3*MaxBatch)
		}
	})
}

func TestPumpReturnsSourcePanic(t *testing.T) {
	given := 0
	err := Pump(t.Context(), func(context.Context) iter.Seq[int] {
		return func(yield func(int) bool) {
			yield(1)
			panic("out of order")
		}
	}, func(b []int) { given += len(b) })
	if broken := panics.As(err); broken == nil || broken.Value != "out of order" || given != 1 {
		t.Errorf("got %d updates and error %v, want 1 and the panic", given, err)
	}
}
