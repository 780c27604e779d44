package main

import (
	"bytes"
	"strings"
	"testing"
)

// results returns those of one row with the values of samples.
func results(row string, samples ...sample) []result {
	var r report
	r.add(row, samples)
	return r.Results
}

func TestResultsAreComparedWithTheirTargets(t *testing.T) {
	for _, c := range []struct {
		results []result
		of      string
		want    string
		met     bool
	}{
		{results("catch-up", sample{"1 client", agentctl, "ms", 44}), "1 client", "≤ 45", true},
		{results("catch-up", sample{"1 client", agentctl, "ms", 46}), "1 client", "≤ 45", false},
		{results("connections", sample{"attached", agentctl, "clients", 10_000}), "attached", "≥ 10k", true},
		{results("connections", sample{"attached", agentctl, "clients", 9_999}), "attached", "≥ 10k", false},
		{
			results("latency", sample{"p50", agentctl, "ms", 3.1}, sample{"p50", ring, "ms", 2}),
			"p50", "≤ 1.5 of ring", false,
		},
		{
			results("flood", sample{"0 clients", agentctl, "1/s", 10}, sample{"10 clients", agentctl, "1/s", 5}),
			"10 clients", "≥ 0.5 of 0 clients", true,
		},
		{
			results("flood", sample{"0 clients", agentctl, "1/s", 10}, sample{"10 clients", agentctl, "1/s", 4}),
			"10 clients", "≥ 0.5 of 0 clients", false,
		},
	} {
		for _, x := range c.results {
			if x.Of != c.of || x.Server != agentctl {
				continue
			}
			if x.Met == nil || *x.Met != c.met || x.Target != c.want {
				t.Errorf("%s, %s: target %q, met %v", x.Row, x.Of, x.Target, x.Met)
			}
		}
	}
	alone := results("latency", sample{"p50", agentctl, "ms", 1})
	if alone[0].Met != nil {
		t.Error("a ratio to a result that was not measured")
	}
}

func TestTheTableSaysWhichTargetsAreMet(t *testing.T) {
	var out bytes.Buffer
	r := report{Results: results("append", sample{"1 sessions, stored", agentctl, "B per event", 329})}
	if err := r.writeTable(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "≤ 120") || !strings.Contains(out.String(), "no") {
		t.Error(out.String())
	}
}
