package format

import (
	"fmt"
	"time"
)

// Duration formats a duration: 340ms, 12s, 3m05s, 2h10m.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		d = d.Round(time.Second)
		if d < time.Minute {
			return d.String()
		}
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// Age returns a duration in its largest unit.
func Age(d time.Duration) string {
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// Seconds returns milliseconds in seconds.
func Seconds(ms int64) string { return fmt.Sprintf("%.1f s", float64(ms)/1000) }

// SecondsLeft returns a remaining time in seconds, rounded up.
func SecondsLeft(left time.Duration) int { return int((left + time.Second - 1) / time.Second) }

// Millis returns a duration of n milliseconds.
func Millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
