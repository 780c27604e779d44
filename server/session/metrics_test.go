package session

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/server/eventlog"
	"agentctl/server/metrics"
)

func TestUsageCountsWhatATotalGrewBy(t *testing.T) {
	m := newMetrics()
	m.used(nil, &protocol.Usage{Input: 10, Output: 2, Cached: 4, Reasoning: 1, Cost: 0.5, Currency: "USD"})
	m.used(&protocol.Usage{Input: 10, Output: 2, Cost: 0.5, Currency: "USD"},
		&protocol.Usage{Input: 15, Output: 2, Cost: 0.75, Currency: "USD"})
	m.used(&protocol.Usage{Input: 15, Cost: 0.75, Currency: "USD"},
		&protocol.Usage{Input: 3, Cost: 0.25, Currency: "USD"})
	m.used(&protocol.Usage{Cost: 0.25, Currency: "USD"}, &protocol.Usage{Cost: 9, Currency: "EUR"})
	m.used(&protocol.Usage{}, &protocol.Usage{Cost: 1, Currency: "the agent's text"})
	if m.Input.Value() != 15 || m.Output.Value() != 2 || m.Cached.Value() != 4 || m.Reasoning.Value() != 1 {
		t.Errorf("tokens %v %v %v %v", m.Input.Value(), m.Output.Value(), m.Cached.Value(), m.Reasoning.Value())
	}
	if got := m.Cost.Sums(); !maps.Equal(got, map[string]float64{"USD": 0.75, metrics.Other: 1}) {
		t.Errorf("%v", got)
	}
}

func TestCurrenciesAreBounded(t *testing.T) {
	var c costs
	for i := range 26 * 26 {
		c.add(fmt.Sprintf("A%c%c", 'A'+i/26, 'A'+i%26), 1)
	}
	if got := c.Sums(); len(got) != maxCurrencies+1 || got[metrics.Other] != 26*26-maxCurrencies {
		t.Errorf("%d currencies, %v", len(got), got[metrics.Other])
	}
}

func TestCommitsAreCountedWithTheirEvents(t *testing.T) {
	m := newMetrics()
	m.committed([]*eventlog.Batch{{Events: [][]byte{[]byte("abc")}, First: 4, Last: 6}, {}}, time.Second, nil)
	m.committed([]*eventlog.Batch{{Events: [][]byte{[]byte("lost")}, First: 7, Last: 7}}, time.Second, errors.New("full"))
	for name, c := range map[string]struct {
		counter *metrics.Counter
		want    float64
	}{
		"commits": {&m.Commits, 2}, "failures": {&m.CommitFailures, 1}, "batches": {&m.Batches, 2},
		"events": {&m.Events, 3}, "bytes": {&m.EventBytes, 3},
	} {
		if c.counter.Value() != c.want {
			t.Errorf("%s: %v, want %v", name, c.counter.Value(), c.want)
		}
	}
}

// A commit takes 20 µs and more; counting it must stay far below.
func BenchmarkCountCommit(b *testing.B) {
	m, batches := newMetrics(), []*eventlog.Batch{{First: 1, Last: 10, Events: [][]byte{make([]byte, 1000)}}}
	for b.Loop() {
		start := time.Now()
		m.committed(batches, time.Since(start), nil)
	}
}
