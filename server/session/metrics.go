package session

import (
	"maps"
	"strings"
	"sync"
	"time"

	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/eventlog"
	"agentctl/server/metrics"
)

// Metrics counts the work of sessions and the committer since the start. Labels never contain text
// of agents.
type Metrics struct {
	Commits, CommitFailures, Batches, Events, EventBytes metrics.Counter
	CommitTime                                           metrics.Histogram

	Turns         *metrics.Vec // by reason
	TurnErrors    *metrics.Vec // by code
	AgentStarts   metrics.Counter
	StartFailures *metrics.Vec // by code

	Input, Output, Cached, Reasoning metrics.Counter // tokens
	Cost                             costs
}

func newMetrics() *Metrics {
	return &Metrics{
		Turns: metrics.NewVec(
			protocol.ReasonCompleted, protocol.ReasonInterrupted, protocol.ReasonError, protocol.ReasonTimeout,
			protocol.ReasonMaxTokens, protocol.ReasonMaxRequests, protocol.ReasonRefusal, protocol.ReasonBudget,
			protocol.ReasonDenied, protocol.ReasonLimited, protocol.ReasonLoop,
		),
		TurnErrors: metrics.NewVec(protocol.Codes...), StartFailures: metrics.NewVec(protocol.Codes...),
	}
}

// Metrics returns the counters of the hub.
func (h *Hub) Metrics() *Metrics { return h.metrics }

// committed counts a commit.
func (m *Metrics) committed(batches []*eventlog.Batch, took time.Duration, err error) {
	m.CommitTime.Observe(took)
	m.Commits.Add(1)
	if err != nil {
		m.CommitFailures.Add(1)
		return
	}
	var events, bytes uint64
	for _, b := range batches {
		if b.Last != 0 {
			events += b.Last - b.First + 1
			bytes += uint64(b.Size())
		}
	}
	m.Batches.Add(uint64(len(batches)))
	m.Events.Add(events)
	m.EventBytes.Add(bytes)
}

// turnEnded counts the end of a turn.
func (m *Metrics) turnEnded(end agent.End) {
	m.Turns.Of(string(end.Reason)).Add(1)
	if end.Code != "" {
		m.TurnErrors.Of(string(end.Code)).Add(1)
	}
}

// used counts an agent's usage between two totals. A total that falls counts nothing.
func (m *Metrics) used(before, after *protocol.Usage) {
	if before == nil {
		before = new(protocol.Usage)
	}
	m.Input.Add(uint64(max(0, after.Input-before.Input)))
	m.Output.Add(uint64(max(0, after.Output-before.Output)))
	m.Cached.Add(uint64(max(0, after.Cached-before.Cached)))
	m.Reasoning.Add(uint64(max(0, after.Reasoning-before.Reasoning)))
	if before.Currency != after.Currency && before.Cost != 0 {
		return // the totals cannot be compared
	}
	if cost := after.Cost - before.Cost; cost > 0 {
		m.Cost.add(after.Currency, cost)
	}
}

// costs sums costs by currency.
type costs struct {
	mu   sync.Mutex
	sums map[string]float64
}

// maxCurrencies bounds the currencies that agents name.
const maxCurrencies = 16

// isCurrency reports whether an agent names a currency by its code.
func isCurrency(name string) bool {
	return len(name) == 3 && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

func (c *costs) add(of string, cost float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sums == nil {
		c.sums = map[string]float64{}
	}
	if _, known := c.sums[of]; !known && (len(c.sums) >= maxCurrencies || !isCurrency(of)) {
		of = metrics.Other
	}
	c.sums[of] += cost
}

// Sums returns the sum of each currency.
func (c *costs) Sums() map[string]float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.sums)
}
