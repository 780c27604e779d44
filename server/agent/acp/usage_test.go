package acp

import (
	"fmt"
	"testing"

	"agentctl/protocol"
	"agentctl/server/agent/acp/catalog"
)

// usageStep is a report of an agent: "restart", "new" for a restart with another ACP session, or
// tokens of input and output.
type usageStep struct {
	what          string
	input, output int64
	want          protocol.Usage // of the turn
}

func TestReportsOfUsageAreCountedOnce(t *testing.T) {
	tokens := func(input, output int64) protocol.Usage { return protocol.Usage{Input: input, Output: output} }
	for name, test := range map[string]struct {
		how   catalog.UsageReports
		steps []usageStep
		total protocol.Usage
	}{
		"per turn": {catalog.PerTurn, []usageStep{
			{"", 10, 2, tokens(10, 2)}, {"", 20, 3, tokens(20, 3)}, {"", 10, 2, tokens(10, 2)},
		}, tokens(40, 7)},
		"cumulative": {catalog.Cumulative, []usageStep{
			{"", 10, 2, tokens(10, 2)},
			{"", 30, 5, tokens(20, 3)},
			{"", 30, 5, protocol.Usage{}},
			{"restart", 0, 0, protocol.Usage{}},
			{"", 40, 6, tokens(40, 6)},
			{"", 41, 7, tokens(1, 1)},
		}, tokens(71, 12)},
		"unknown, never falls": {catalog.UsageUnknown, []usageStep{
			{"", 10, 2, tokens(10, 2)}, {"", 30, 5, tokens(20, 3)}, {"", 31, 6, tokens(1, 1)},
		}, tokens(31, 6)},
		"unknown, falls": {catalog.UsageUnknown, []usageStep{
			{"", 10, 2, tokens(10, 2)},
			{"", 30, 5, tokens(20, 3)},
			{"", 31, 4, tokens(31, 4)},
			{"", 5, 9, tokens(5, 9)},
		}, tokens(76, 20)},
		"unknown, restarts and continues": {catalog.UsageUnknown, []usageStep{
			{"", 10, 2, tokens(10, 2)}, {"restart", 0, 0, protocol.Usage{}}, {"", 30, 5, tokens(20, 3)},
		}, tokens(30, 5)},
		"unknown, restarts from zero": {catalog.UsageUnknown, []usageStep{
			{"", 10, 2, tokens(10, 2)},
			{"restart", 0, 0, protocol.Usage{}},
			{"", 4, 1, tokens(4, 1)},
			{"", 6, 3, tokens(2, 2)},
		}, tokens(16, 5)},
		"unknown, another session": {catalog.UsageUnknown, []usageStep{
			{"", 10, 2, tokens(10, 2)}, {"new", 0, 0, protocol.Usage{}}, {"", 30, 5, tokens(30, 5)},
		}, tokens(40, 7)},
	} {
		t.Run(name, func(t *testing.T) {
			s := decodeState(nil)
			for i, step := range test.steps {
				s = decodeState(s.encode()) // the state survives a restart of the server
				switch step.what {
				case "restart", "new":
					s.restartUsage(test.how, step.what == "restart")
					continue
				}
				report := tokens(step.input, step.output)
				used := s.countUsage(&report, test.how)
				s.addUsage(used)
				if used != step.want {
					t.Errorf("step %d: the turn used %+v, want %+v", i+1, used, step.want)
				}
			}
			if *s.Usage != test.total {
				t.Errorf("total %+v, want %+v", *s.Usage, test.total)
			}
		})
	}
}

func TestCostsAreCountedOnce(t *testing.T) {
	for name, test := range map[string]struct {
		amounts []float64 // below zero: a restart; keeps the session
		want    []float64
	}{
		"grows":                           {[]float64{0.5, 0.75, 0.75}, []float64{0.5, 0.25, 0}},
		"continues after a restart":       {[]float64{0.012512, -1, 0.025024}, []float64{0.012512, 0.012512}},
		"starts again after a restart":    {[]float64{0.3, -1, 0.2, 0.4}, []float64{0.3, 0.2, 0.2}},
		"starts again in another session": {[]float64{0.1, -2, 0.3}, []float64{0.1, 0.3}},
	} {
		t.Run(name, func(t *testing.T) {
			s := decodeState(nil)
			var got []float64
			for _, amount := range test.amounts {
				s = decodeState(s.encode())
				if amount < 0 {
					s.restartUsage(catalog.UsageUnknown, amount == -1)
					continue
				}
				var used protocol.Usage
				s.countCost(&cost{amount, "EUR"}, &used)
				got = append(got, used.Cost)
				if used.Cost > 0 && used.Currency != "EUR" {
					t.Errorf("currency %q", used.Currency)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(test.want) {
				t.Errorf("costs %v, want %v", got, test.want)
			}
		})
	}
}

func TestUsageIsThatOfTheTurnAndThatOfTheSession(t *testing.T) {
	r := newTestAgent(t, "load", connected)
	spend := func(amount float64) string {
		return fmt.Sprintf(`update {"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":%v,"currency":"USD"}}`,
			amount)
	}
	report := `usage {"inputTokens":11,"outputTokens":7,"cachedReadTokens":3,"thoughtTokens":2}`
	if end := r.run("say nothing of usage"); end.Usage != nil {
		t.Errorf("usage that is unknown: %+v", end.Usage)
	}
	first := r.run(spend(0.5), report)
	want := protocol.Usage{Input: 11, Output: 7, Cached: 3, Reasoning: 2, Cost: 0.5, Currency: "USD"}
	if *first.Usage != want {
		t.Errorf("first turn: %+v", first.Usage)
	}
	if end, err := r.tryRun(t.Context(), spend(0.75), "fail 1 no luck"); err == nil || end.Usage.Cost != 0.25 {
		t.Errorf("a turn that fails: %+v, %v", end.Usage, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	next := r.restart("load")
	next.run(spend(1), `usage {"inputTokens":5,"outputTokens":1}`)
	want = protocol.Usage{Input: 16, Output: 8, Cached: 3, Reasoning: 2, Cost: 1, Currency: "USD"}
	if sums := next.data(protocol.UsageUpdated); len(sums) != 1 || sums[0] != want {
		t.Errorf("session usage %+v", sums)
	}
}

func TestUsageOfChunksIsSummed(t *testing.T) {
	r := newTestAgent(t, "plain", connected)
	chunk := `update {"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""},"_meta":{"usage":{"inputTokens":10,"outputTokens":2,"thoughtTokens":1}}}`
	if end := r.run(chunk, "say between", chunk); *end.Usage != (protocol.Usage{Input: 20, Output: 4, Reasoning: 2}) {
		t.Errorf("usage %+v", end.Usage)
	}
	if end := r.run(chunk, `usage {"inputTokens":7}`); *end.Usage != (protocol.Usage{Input: 7}) {
		t.Errorf("with usage in the result: %+v", end.Usage)
	}
}

func TestInputIncludesCachedTokens(t *testing.T) {
	for name, test := range map[string]struct {
		tokens catalog.Tokens
		want   int64
	}{
		"beside the input": {catalog.Tokens{Input: 10, Output: 2, Cached: 30, Written: 5, Total: 47}, 45},
		"in the input":     {catalog.Tokens{Input: 40, Output: 2, Cached: 30, Total: 42}, 40},
		"without a total":  {catalog.Tokens{Input: 10, Output: 2, Cached: 30}, 10},
	} {
		if got := test.tokens.Usage(); got.Input != test.want || got.Cached != 30 {
			t.Errorf("%s: %+v, want an input of %d", name, got, test.want)
		}
	}
}
