package tuitest

import (
	"fmt"

	"agentctl/protocol"
)

// GrowingContext returns a session whose context grows, is compacted and grows again. Its third
// turn is running.
func GrowingContext() *Journal {
	j := NewJournal()
	for i, tokens := range []int64{12_000, 55_000} {
		j.UserMessage(Ada, fmt.Sprint("m", i), "on")
		j.Add(protocol.ContextUpdated, protocol.ContextInfo{
			Tokens:           tokens,
			MaxTokens:        100_000,
			Percent:          float64(tokens) / 1000,
			TranscriptLength: 10 * (i + 1),
			Strategy:         "summary",
		})
		j.Add(protocol.UsageUpdated, protocol.Usage{
			Input:     2 * tokens,
			Output:    700,
			Cached:    3000,
			Reasoning: 250,
			Cost:      0.01234,
			Currency:  "USD",
			Model:     "gemini-2.5\x1b[2J",
		})
		j.EndTurn(protocol.ReasonCompleted)
	}
	j.Add(protocol.ContextCompacted, protocol.ContextCompactedData{
		Before: 55_000, After: 20_000, Percent: 63.6, Automatic: true,
	})
	j.UserMessage(Ada, "m9", "and on")
	j.Add(protocol.ContextUpdated, protocol.ContextInfo{
		Tokens:           82_000,
		MaxTokens:        100_000,
		Percent:          82,
		TranscriptLength: 31,
		Strategy:         "summary",
	})
	j.Add(protocol.TextStart, protocol.PartStartData{Part: "t"})
	j.CaughtUp()
	return j
}
