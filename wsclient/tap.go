package wsclient

import (
	"fmt"
	"sync"
	"time"

	"agentctl/protocol/codec"

	"agentctl/dialect"
)

// A Frame is one message on the wire as it is, in whatever protocol is spoken, credentials included; or a note of what became of
// the connection, which holds none.
type Frame struct {
	Time   time.Time
	Sent   bool // by the client; it may still fail to arrive
	Binary bool
	Data   []byte // not to be changed; it may be kept
	Note   string
}

// A tap shows frames to somebody, one at a time. A nil one shows nothing.
type tap struct {
	mu   sync.Mutex
	take func(Frame)
}

func newTap(take func(Frame)) *tap {
	if take == nil {
		return nil
	}
	return &tap{take: take}
}

func (t *tap) frame(sent bool, f codec.Frame) {
	if t != nil {
		t.give(Frame{Sent: sent, Binary: f.Binary, Data: f.Data})
	}
}

func (t *tap) note(text string) {
	if t != nil {
		t.give(Frame{Note: text})
	}
}

func (t *tap) give(f Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f.Time = time.Now()
	t.take(f)
}

// codec shows the foreign frames that a codec hears and says.
func (t *tap) codec(c codec.Codec) codec.Codec {
	if t == nil {
		return c
	}
	if g, ok := c.(dialect.HTTPReader); ok {
		return &tappedGetter{tapped{c, t}, g}
	}
	return &tapped{c, t}
}

// tapped is a codec somebody listens to.
type tapped struct {
	codec.Codec
	tap *tap
}

func (t *tapped) said(o codec.Output) codec.Output {
	for _, f := range o.Foreign {
		t.tap.frame(true, f)
	}
	return o
}

func (t *tapped) Open(now time.Time) codec.Output { return t.said(t.Codec.Open(now)) }

func (t *tapped) Native(now time.Time, line []byte) codec.Output {
	return t.said(t.Codec.Native(now, line))
}

func (t *tapped) Foreign(now time.Time, f codec.Frame) codec.Output {
	t.tap.frame(false, f)
	return t.said(t.Codec.Foreign(now, f))
}

func (t *tapped) Wake(now time.Time) codec.Output { return t.said(t.Codec.Wake(now)) }

// tappedGetter is a codec that asks over HTTP, too.
type tappedGetter struct {
	tapped
	getter dialect.HTTPReader
}

func (t *tappedGetter) Paths() []string {
	paths := t.getter.Paths()
	for _, path := range paths {
		t.tap.note("GET " + path)
	}
	return paths
}

func (t *tappedGetter) PathRead(now time.Time, path string, body []byte) codec.Output {
	t.tap.note(fmt.Sprintf("GET %s: %d bytes", path, len(body)))
	return t.said(t.getter.PathRead(now, path, body))
}
