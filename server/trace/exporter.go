package trace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxQueued     = 4096 // spans that wait; further ones are dropped
	maxBatch      = 512  // spans of a request
	flushInterval = 2 * time.Second
	sendTimeout   = 10 * time.Second
)

// Options configures an Exporter.
type Options struct {
	URL     string            // of the collector's traces
	Headers map[string]string // of requests
	Service string            // name of this server
	Version string
	Client  *http.Client // nil: the default one
	Log     *slog.Logger
}

// An Exporter sends spans in the background. Nothing waits for it: when the collector is slow or
// away, spans are dropped. The nil Exporter makes no spans.
type Exporter struct {
	options Options
	queue   chan *Span
	stop    chan struct{}
	once    sync.Once
	done    chan struct{}
	dropped atomic.Uint64
}

// New starts an exporter. Close ends it.
func New(o Options) *Exporter {
	if o.Client == nil {
		o.Client = http.DefaultClient
	}
	e := &Exporter{options: o, queue: make(chan *Span, maxQueued), stop: make(chan struct{}), done: make(chan struct{})}
	go e.run()
	return e
}

// Dropped returns the number of spans that were not exported.
func (e *Exporter) Dropped() uint64 {
	if e == nil {
		return 0
	}
	return e.dropped.Load()
}

func (e *Exporter) export(s *Span) {
	select {
	case e.queue <- s:
	default:
		e.dropped.Add(1)
	}
}

// Close sends the spans that wait, once, and ends the exporter. No span may be made later.
func (e *Exporter) Close() {
	if e == nil {
		return
	}
	e.once.Do(func() { close(e.stop) })
	<-e.done
}

func (e *Exporter) run() {
	defer close(e.done)
	tick := time.NewTicker(flushInterval)
	defer tick.Stop()
	var batch []*Span
	failing := false
	flush := func() {
		if len(batch) == 0 {
			return
		}
		err := e.send(batch)
		if err != nil {
			e.dropped.Add(uint64(len(batch)))
		}
		if err != nil && !failing {
			e.options.Log.Warn("traces are not exported", "err", err)
		}
		failing, batch = err != nil, batch[:0]
	}
	for {
		select {
		case s := <-e.queue:
			if batch = append(batch, s); len(batch) >= maxBatch {
				flush()
			}
		case <-tick.C:
			flush()
		case <-e.stop:
			for len(e.queue) > 0 {
				batch = append(batch, <-e.queue)
			}
			flush()
			return
		}
	}
}

// send sends spans in one request.
func (e *Exporter) send(spans []*Span) error {
	ctx, cancel := context.WithTimeout(context.Background(), sendTimeout)
	defer cancel()
	body := bytes.NewReader(encode(&e.options, spans))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.options.URL, body)
	if err != nil {
		return fmt.Errorf("export traces: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	for name, value := range e.options.Headers {
		r.Header.Set(name, value)
	}
	resp, err := e.options.Client.Do(r)
	if err != nil {
		return fmt.Errorf("export traces: %w", err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection is used again
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("export traces: the collector answered %s", resp.Status)
	}
	return nil
}
