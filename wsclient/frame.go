package wsclient

import (
	"fmt"
	"sync"
	"time"

	"agentctl/dialect"
	"agentctl/protocol/codec"
)

// A Frame is one message as sent or received, in the protocol of the connection; or a note about
// the connection. Data may hold credentials, Note does not.
type Frame struct {
	Time   time.Time
	Sent   bool // by the client; the message may still fail to arrive
	Binary bool
	Data   []byte // read-only; may be kept
	Note   string // if not empty, the frame is a note
}

// A frameObserver calls Options.OnFrame, one frame at a time.
type frameObserver struct {
	mu      sync.Mutex
	onFrame func(Frame) // nil: the observer does nothing
}

// record reports a frame, at the current time.
func (o *frameObserver) record(f Frame) {
	if o.onFrame == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	f.Time = time.Now()
	o.onFrame(f)
}

// observe wraps a codec so that its foreign frames are reported.
func (o *frameObserver) observe(c codec.Codec) codec.Codec {
	if o.onFrame == nil {
		return c
	}
	if g, ok := c.(dialect.HTTPReader); ok {
		return &observedGetter{observedCodec{c, o}, g}
	}
	return &observedCodec{c, o}
}

// An observedCodec reports the foreign frames of a codec.
type observedCodec struct {
	codec.Codec
	observer *frameObserver
}

func (c *observedCodec) report(out codec.Output) codec.Output {
	for _, f := range out.Foreign {
		c.observer.record(Frame{Sent: true, Binary: f.Binary, Data: f.Data})
	}
	return out
}

func (c *observedCodec) Open(now time.Time) codec.Output { return c.report(c.Codec.Open(now)) }

func (c *observedCodec) Native(now time.Time, line []byte) codec.Output {
	return c.report(c.Codec.Native(now, line))
}

func (c *observedCodec) Foreign(now time.Time, f codec.Frame) codec.Output {
	c.observer.record(Frame{Binary: f.Binary, Data: f.Data})
	return c.report(c.Codec.Foreign(now, f))
}

func (c *observedCodec) Wake(now time.Time) codec.Output { return c.report(c.Codec.Wake(now)) }

// An observedGetter is an observedCodec that also reports HTTP requests, as notes.
type observedGetter struct {
	observedCodec
	getter dialect.HTTPReader
}

func (g *observedGetter) Paths() []string {
	paths := g.getter.Paths()
	for _, path := range paths {
		g.observer.record(Frame{Note: "GET " + path})
	}
	return paths
}

func (g *observedGetter) PathRead(now time.Time, path string, body []byte) codec.Output {
	g.observer.record(Frame{Note: fmt.Sprintf("GET %s: %d bytes", path, len(body))})
	return g.report(g.getter.PathRead(now, path, body))
}
