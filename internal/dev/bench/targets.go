package main

import "fmt"

// A target is the most or the least that a result should be.
type target struct {
	row, of, server string
	most            bool // else the value is the least
	value           float64
	per             [2]string // what and server of the result to which it is a ratio; empty: none
}

func (t target) String() string {
	sign := "≥"
	if t.most {
		sign = "≤"
	}
	if t.per[1] == "" {
		return fmt.Sprint(sign, " ", short(t.value))
	}
	if t.per[0] == t.of {
		return fmt.Sprint(sign, " ", short(t.value), " of ", t.per[1])
	}
	return fmt.Sprint(sign, " ", short(t.value), " of ", t.per[0])
}

// targets are those of the results, where they have one.
var targets = []target{
	{"fan-out", "1 clients", agentctl, false, 0.8, [2]string{"1 clients", ring}},
	{"fan-out", "10 clients", agentctl, false, 0.7, [2]string{"10 clients", ring}},
	{"fan-out", "100 clients", agentctl, false, 0.6, [2]string{"100 clients", ring}},
	{"fan-out", "100 clients", sse, false, 0.8, [2]string{"100 clients", agentctl}},
	{"fan-out", "1000 clients", agentctl, false, 0.6, [2]string{"1000 clients", ring}},
	{"100 sessions × 10", "all", agentctl, false, 0.7, [2]string{"all", ring}},
	{"latency", "p50", agentctl, true, 1.5, [2]string{"p50", ring}},
	{"latency", "p99", agentctl, true, 2, [2]string{"p99", ring}},
	{"attach", "1000 clients, processor", agentctl, true, 0.3, [2]string{}},
	{"attach", "2000 clients, processor", agentctl, true, 0.6, [2]string{}},
	{"catch-up", "1 client", agentctl, true, 45, [2]string{}},
	{"catch-up", "1 client", sse, true, 1.3, [2]string{"1 client", agentctl}},
	{"catch-up", "1 client", folds, true, 25, [2]string{}},
	{"catch-up", "many clients", agentctl, false, 5e6, [2]string{}},
	{"catch-up", "1 client, after a start", agentctl, true, 70, [2]string{}},
	{"memory", "idle client", agentctl, true, 33e3, [2]string{}},
	{"memory", "idle client of 100 sessions", agentctl, true, 33e3, [2]string{}},
	{"memory", "loaded session", agentctl, true, 10e3, [2]string{}},
	{"memory", "unloaded session", agentctl, true, 1e3, [2]string{}},
	{"memory", "stored session", agentctl, true, 4e3, [2]string{}},
	{"append", "1 sessions, of the C library", agentctl, false, 0.7, [2]string{}},
	{"append", "100 sessions, of the C library", agentctl, false, 0.8, [2]string{}},
	{"append", "1 sessions, stored", agentctl, true, 120, [2]string{}},
	{"append", "100 sessions, stored", agentctl, true, 120, [2]string{}},
	{"acp", "chunks", agentctl, true, 8, [2]string{}},
	{"start", "version", "program", true, 1.3, [2]string{"hello", "program"}},
	{"start", "send", "program", true, 1.8, [2]string{"hello", "program"}},
	{"restart", "10,000 sessions", "program", true, 250, [2]string{}},
	{"restart", "1,000 sessions with 64 KB of an agent", "program", true, 250, [2]string{}},
	{"screen", "16 events, first bytes", "program", true, 12, [2]string{}},
	{"screen", "16 events, last word", "program", true, 30, [2]string{}},
	{"screen", "100k events in turns, first bytes", "program", true, 12, [2]string{}},
	{"screen", "100k events in turns, last word", "program", true, 30, [2]string{}},
	{"screen", "100k events in one turn, first bytes", "program", true, 12, [2]string{}},
	{"screen", "100k events in one turn, last word", "program", true, 30, [2]string{}},
	{"connections", "attached", agentctl, false, 10e3, [2]string{}},
	{"flood", "1 clients", agentctl, false, 0.5, [2]string{"0 clients", agentctl}},
	{"flood", "10 clients", agentctl, false, 0.5, [2]string{"0 clients", agentctl}},
	{"flood", "100 clients", agentctl, false, 0.5, [2]string{"0 clients", agentctl}},
	{"flood", "100 folding clients", agentctl, false, 0.5, [2]string{"0 clients", agentctl}},
	{"flood", "1000 folding clients", agentctl, false, 0.5, [2]string{"0 clients", agentctl}},
}

// compare enters the targets of a row's results, and whether their medians meet them.
func compare(results []result) {
	median := map[[3]string]float64{}
	for _, x := range results {
		median[[3]string{x.Row, x.Of, x.Server}] = x.Median
	}
	for i := range results {
		x := &results[i]
		for _, t := range targets {
			if t.row != x.Row || t.of != x.Of || t.server != x.Server {
				continue
			}
			value := x.Median
			if t.per[1] != "" {
				base := median[[3]string{t.row, t.per[0], t.per[1]}]
				if base == 0 {
					continue // it was not measured
				}
				value /= base
			}
			met := value >= t.value
			if t.most {
				met = value <= t.value
			}
			x.Target, x.Met = t.String(), &met
		}
	}
}
