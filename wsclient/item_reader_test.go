package wsclient

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"agentctl/protocol"
)

// An itemReader consumes a subscription one item at a time.
type itemReader struct {
	t     testing.TB
	items chan Item
	end   chan error // receives one value
}

// readItems consumes a subscription on a goroutine, one item per call of next.
func readItems(t testing.TB, ctx context.Context, s *Subscription) *itemReader {
	r := &itemReader{t: t, items: make(chan Item), end: make(chan error, 1)}
	go func() {
		var last error
		over := false
		for it, err := range s.Events(ctx) {
			if err != nil {
				last = err
				continue
			}
			select {
			case r.items <- it:
			case <-ctx.Done():
				over = true
			}
			if over {
				break
			}
		}
		r.end <- last // Events has returned
	}()
	return r
}

func (r *itemReader) next() Item {
	r.t.Helper()
	select {
	case it := <-r.items:
		return it
	case err := <-r.end:
		r.t.Fatalf("the subscription ended: %v", err)
	case <-time.After(time.Minute):
		r.t.Fatal("no item came")
	}
	return Item{}
}

func (r *itemReader) expectAttached(mode string) *protocol.SubscribeResult {
	r.t.Helper()
	it := r.next()
	if it.Attached == nil || it.Attached.Mode != mode {
		r.t.Fatalf("got %+v, want attached with %s", it, mode)
	}
	return it.Attached
}

// expectEvents reads the events first..last.
func (r *itemReader) expectEvents(first, last uint64) {
	r.t.Helper()
	for want := first; want <= last; want++ {
		it := r.next()
		if it.Event == nil || it.Event.Seq != want {
			r.t.Fatalf("got %+v, want event %d", it, want)
		}
		var raw protocol.Event
		if err := json.Unmarshal(it.Raw, &raw); err != nil || raw.Seq != want {
			r.t.Fatalf("raw line %s of event %d", it.Raw, want)
		}
	}
}

func (r *itemReader) waitEnd() error {
	r.t.Helper()
	select {
	case err := <-r.end:
		return err
	case it := <-r.items:
		r.t.Fatalf("got %+v, want the end", it)
	case <-time.After(time.Minute):
		r.t.Fatal("the subscription did not end")
	}
	return nil
}
