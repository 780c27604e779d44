package server

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"agentctl/protocol"
)

// A drain ends the requests of package web during a shutdown, before their connections are closed:
// waits and event streams get an error, and all requests get a moment to write their answer.
type drain struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	idle   chan struct{} // closed when no request is running, after cancel
	once   sync.Once     // closes idle

	announced atomic.Bool // stop follows; until then requests continue, and answers are written before they end

	mu       sync.Mutex
	requests int
	stopped  bool
}

func newDrain() *drain {
	d := &drain{idle: make(chan struct{})}
	d.ctx, d.cancel = context.WithCancelCause(context.Background())
	return d
}

func (d *drain) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.requests++
}

func (d *drain) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.requests--; d.requests == 0 && d.stopped {
		d.once.Do(func() { close(d.idle) })
	}
}

// stop ends the requests and waits for them, for closeTimeout at most and until ctx ends.
func (d *drain) stop(ctx context.Context) {
	d.cancel(protocol.Errorf(protocol.CodeShuttingDown, "the server is stopping"))
	d.mu.Lock()
	d.stopped = true
	busy := d.requests > 0
	d.mu.Unlock()
	if !busy {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	select {
	case <-d.idle:
	case <-ctx.Done(): // Shutdown closes the connections
	}
}

// handler ends the requests of next when the drain stops.
func (d *drain) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.begin()
		defer d.end()
		ctx, cancel := context.WithCancelCause(r.Context())
		defer cancel(nil)
		defer context.AfterFunc(d.ctx, func() { cancel(context.Cause(d.ctx)) })()
		next.ServeHTTP(w, r.WithContext(ctx))
		if d.announced.Load() {
			_ = http.NewResponseController(w).Flush() // before Shutdown closes the connection
		}
	})
}
