package main

import (
	"fmt"
	"time"
)

// topWindow is the time over which tokens per second are counted. Agents report tokens at the ends
// of requests, so a shorter one would jump.
const topWindow = 30 * time.Second

// A topSample is the number of tokens of a session at a time.
type topSample struct {
	at     time.Time
	tokens int64
}

// topRates are the samples of the sessions in the window, by id, the oldest first.
type topRates map[string][]topSample

// add takes a sample of each row and sets its tokens per second. Sessions without a row are
// forgotten.
func (r topRates) add(rows []topRow, now time.Time) {
	shown := make(map[string]bool, len(rows))
	for i := range rows {
		id := rows[i].Session
		shown[id] = true
		samples := r[id]
		for len(samples) > 1 && now.Sub(samples[1].at) >= topWindow { // the first is the start of the window
			samples = samples[1:]
		}
		if len(samples) > 0 {
			first := samples[0]
			if d := now.Sub(first.at).Seconds(); d > 0 && rows[i].Tokens > first.tokens {
				rows[i].Rate = float64(rows[i].Tokens-first.tokens) / d
			}
		}
		r[id] = append(samples, topSample{now, rows[i].Tokens})
	}
	for id := range r {
		if !shown[id] {
			delete(r, id)
		}
	}
}

// rateText returns tokens per second as text.
func rateText(rate float64) string {
	switch {
	case rate <= 0:
		return "-"
	case rate < 10:
		return fmt.Sprintf("%.1f", rate)
	}
	return fmt.Sprintf("%.0f", rate)
}
