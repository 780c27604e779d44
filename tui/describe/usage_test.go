package describe

import (
	"strconv"
	"strings"
	"testing"

	"agentctl/protocol"
)

func TestUnknownCountsAreLeftOut(t *testing.T) {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	for want, u := range map[string]protocol.Usage{
		"":                             {Cost: 1},
		"3 tokens out":                 {Output: 3},
		"7 tokens in":                  {Input: 7},
		"7 tokens in, 3 out, 2 cached": {Input: 7, Output: 3, Cached: 2},
	} {
		if got := strings.Join(Usage(&u, number), ", "); got != want {
			t.Errorf("%+v: got %q, want %q", u, got, want)
		}
	}
	for want, c := range map[string]protocol.ContextInfo{
		"":                           {},
		"5 tokens":                   {Tokens: 5},
		"5 of 10 tokens, 2 messages": {Tokens: 5, MaxTokens: 10, Percent: 50, TranscriptLength: 2},
		"0 of 10 tokens":             {MaxTokens: 10},
		"1 message":                  {TranscriptLength: 1, Percent: 3},
	} {
		got := strings.Join(Context(&c, number), ", ")
		if _, known := ContextPercent(&c); got != want || known != (c.Percent > 0 || c.MaxTokens > 0) {
			t.Errorf("%+v: got %q, want %q", c, got, want)
		}
	}
	if percent, _ := ContextPercent(&protocol.ContextInfo{Tokens: 5, MaxTokens: 20}); percent != 25 {
		t.Errorf("got %v%%, want 25%%", percent)
	}
	for want, c := range map[string]protocol.ContextCompactedData{
		"":                        {},
		"8 → 2 tokens (75% less)": {Before: 8, After: 2},
		"0 → 2 tokens":            {After: 2},
	} {
		if got := Compaction(&c, number); got != want {
			t.Errorf("%+v: got %q, want %q", c, got, want)
		}
	}
}
