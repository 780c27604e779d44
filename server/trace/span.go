package trace

import (
	"crypto/rand"
	"encoding/hex"
	"strings"
	"time"
)

// A Context identifies a span. The zero Context is none.
type Context struct {
	Trace [16]byte
	Span  [8]byte
}

// Parse reads a W3C traceparent header. An invalid one is the zero Context.
func Parse(header string) (c Context) {
	parts := strings.Split(header, "-")
	if len(parts) < 4 || len(parts[0]) != 2 || parts[0] == "ff" || parts[0] == "00" && len(parts) != 4 {
		return Context{}
	}
	if len(parts[1]) != 2*len(c.Trace) || len(parts[2]) != 2*len(c.Span) {
		return Context{}
	}
	_, err := hex.Decode(c.Trace[:], []byte(parts[1]))
	_, err2 := hex.Decode(c.Span[:], []byte(parts[2]))
	if err != nil || err2 != nil || c.Trace == [16]byte{} || c.Span == [8]byte{} {
		return Context{}
	}
	return c
}

// An Attribute describes a span.
type Attribute struct{ Key, Value string }

// A Span is a part of a trace. One goroutine at a time uses it. The nil Span is not exported.
type Span struct {
	Context
	parent     [8]byte
	name       string
	start, end time.Time
	code       string // of a failure
	attributes []Attribute
	exporter   *Exporter
}

// Begin returns a span that starts now, below parent or in a trace of its own. It is nil if e is.
func (e *Exporter) Begin(parent Context, name string, start time.Time, attributes ...Attribute) *Span {
	if e == nil {
		return nil
	}
	s := &Span{name: name, start: start, attributes: attributes, exporter: e}
	s.Trace, s.parent = parent.Trace, parent.Span
	if parent == (Context{}) {
		_, _ = rand.Read(s.Trace[:]) // never fails
	}
	_, _ = rand.Read(s.Span[:])
	return s
}

// Of returns the context of a span for its children.
func (s *Span) Of() Context {
	if s == nil {
		return Context{}
	}
	return s.Context
}

// End exports the span. code is that of a failure, or empty.
func (s *Span) End(at time.Time, code string, attributes ...Attribute) {
	if s == nil {
		return
	}
	s.end, s.code, s.attributes = at, code, append(s.attributes, attributes...)
	s.exporter.export(s)
}
