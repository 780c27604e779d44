package sessions

import "time"

// tokenWindow is the time over which tokens per second are counted. Agents report tokens at the
// ends of requests, so a shorter one would jump.
const tokenWindow = 30 * time.Second

// A tokenCount is the number of a session's tokens since a time.
type tokenCount struct {
	since  time.Time
	tokens int64
}

// A tokenRate counts the tokens of one session in the window. It holds the changes in the window,
// and the one before them. The zero tokenRate has no tokens yet.
type tokenRate []tokenCount

// add sets the number of tokens and returns the tokens per second. Calls are in the order of time.
func (r *tokenRate) add(tokens int64, now time.Time) float64 {
	counts := *r
	if n := len(counts); n == 0 || counts[n-1].tokens != tokens {
		counts = append(counts, tokenCount{now, tokens})
	}
	begin := now.Add(-tokenWindow)
	for len(counts) > 1 && !counts[1].since.After(begin) {
		counts = counts[1:]
	}
	*r = counts
	first := counts[0]
	if first.since.Before(begin) {
		first.since = begin
	}
	elapsed := now.Sub(first.since).Seconds()
	if elapsed <= 0 || tokens <= first.tokens {
		return 0
	}
	return float64(tokens-first.tokens) / elapsed
}
