package describe

import (
	"cmp"
	"fmt"
	"time"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// minWaited is the shortest wait for a person that Took names.
const minWaited = 5 * time.Second

// Took returns how long something worked, and how long it waited for people apart from that.
func Took(work, waited time.Duration) string {
	text := format.Duration(work)
	if waited >= minWaited {
		text += " + " + format.Duration(waited) + " waiting for you"
	}
	return text
}

// Usage names the counted tokens, one phrase each, like "12 tokens in" and "3 out". It leaves out
// counts of 0, which are not known. number formats a count.
func Usage(u *protocol.Usage, number func(int64) string) []string {
	var out []string
	unit := " tokens"
	for _, c := range []struct {
		n    int64
		what string
	}{{u.Input, " in"}, {u.Output, " out"}, {u.Cached, " cached"}, {u.Reasoning, " reasoning"}} {
		if c.n > 0 {
			out = append(out, number(c.n)+unit+c.what)
			unit = ""
		}
	}
	return out
}

// Cost returns the cost of a usage with two digits after the point, or more if it is small. It
// returns "" if the cost is not known.
func Cost(u *protocol.Usage) string {
	if u.Cost <= 0 {
		return ""
	}
	amount := fmt.Sprintf("%.2f", u.Cost)
	if u.Cost < 0.01 {
		amount = fmt.Sprintf("%.2g", u.Cost)
	}
	if currency := transcript.CleanLine(u.Currency); currency != "" && currency != "USD" {
		return amount + " " + currency
	}
	return "$" + amount
}

// Context names what is known of the usage of a context, one phrase each: its tokens and messages.
// number formats a count.
func Context(c *protocol.ContextInfo, number func(int64) string) []string {
	var out []string
	switch {
	case c.MaxTokens > 0:
		out = append(out, number(c.Tokens)+" of "+number(c.MaxTokens)+" tokens")
	case c.Tokens > 0:
		out = append(out, number(c.Tokens)+" tokens")
	}
	if c.TranscriptLength > 0 {
		out = append(out, format.Count(c.TranscriptLength, "message"))
	}
	return out
}

// ContextPercent returns the used part of a context in percent. ok is false if it is not known.
func ContextPercent(c *protocol.ContextInfo) (percent float64, ok bool) {
	if c.Percent == 0 && c.MaxTokens > 0 {
		return 100 * float64(c.Tokens) / float64(c.MaxTokens), true
	}
	return c.Percent, c.Percent > 0
}

// Compaction describes the effect of a compaction, or returns "" if it is not known. number formats
// a count.
func Compaction(d *protocol.ContextCompactedData, number func(int64) string) string {
	if d.Before == 0 && d.After == 0 {
		return ""
	}
	s := number(d.Before) + " → " + number(d.After) + " tokens"
	if percent := cmp.Or(d.Percent, 100*float64(d.Before-d.After)/float64(max(d.Before, 1))); percent > 0 {
		s += fmt.Sprintf(" (%.0f%% less)", percent)
	}
	return s
}
