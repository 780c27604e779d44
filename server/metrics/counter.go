package metrics

import (
	"sync/atomic"
	"time"
)

// A Counter counts. The zero Counter is ready; its methods may be called from any goroutine.
type Counter struct{ n atomic.Uint64 }

// Add adds n.
func (c *Counter) Add(n uint64) { c.n.Add(n) }

// Value returns the count.
func (c *Counter) Value() float64 { return float64(c.n.Load()) }

// Other is the label of values that a Vec does not know.
const Other = "other"

// A Vec has a counter for each of a fixed set of values, and one for all others, so that no client
// and no agent makes new ones. Its methods may be called from any goroutine.
type Vec struct {
	values   []string
	counters map[string]*Counter
}

// NewVec returns a Vec for values.
func NewVec[S ~string](values ...S) *Vec {
	v := &Vec{counters: make(map[string]*Counter, len(values)+1)}
	for _, value := range values {
		v.values = append(v.values, string(value))
	}
	v.values = append(v.values, Other)
	for _, value := range v.values {
		v.counters[value] = new(Counter)
	}
	return v
}

// Of returns the counter of a value.
func (v *Vec) Of(value string) *Counter {
	if c := v.counters[value]; c != nil {
		return c
	}
	return v.counters[Other]
}

// bounds are the upper bounds of the buckets of a Histogram, in seconds.
var bounds = [...]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// A Histogram counts durations. The zero Histogram is ready; its methods may be called from any
// goroutine.
type Histogram struct {
	buckets [len(bounds) + 1]Counter
	nanos   Counter
}

// Observe counts a duration.
func (h *Histogram) Observe(d time.Duration) {
	i, seconds := 0, d.Seconds()
	for i < len(bounds) && seconds > bounds[i] {
		i++
	}
	h.buckets[i].Add(1)
	h.nanos.Add(uint64(max(d, 0)))
}
