package resettime

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// patterns find a time of the day, perhaps with a date; an exact date; and a time from now.
var patterns = sync.OnceValue(func() (p struct{ clock, date, after, unit *regexp.Regexp }) {
	p.clock = regexp.MustCompile(`(?i)(?:resets?|try again|available again)(?: at| on)? ` +
		`(?:([a-z]{3})[a-z]* (\d{1,2})(?:st|nd|rd|th)?,? (?:(\d{4}),? )?(?:at )?)?(\d{1,2})(?::(\d\d))? ?([ap])m(?: \(([^)]*)\))?`)
	p.date = regexp.MustCompile(
		`(?i)(?:resets?|again|access)(?: at| on) (\d{4}-\d\d-\d\d)(?:T| | at )(\d\d:\d\d)(?::\d\d)?(?: ?UTC|Z)`,
	)
	p.after = regexp.MustCompile(
		`(?i)(?:try again|retry|resets?) (?:in|after) ((?:[\d.]+ ?[a-z]+(?:, | and |, and | )?)+)`,
	)
	p.unit = regexp.MustCompile(
		`(?i)([\d.]+) ?(days?|d|hours?|hrs?|h|minutes?|mins?|ms|m|seconds?|secs?|s)(?:[^a-z]|$)`,
	)
	return p
})

// maxAfter bounds a time from now.
const maxAfter = 366 * 24 * time.Hour

// In returns the time that a text names for the end of a limit. A time without a zone is in the zone
// of now, a time of the day is the next one.
func In(text string, now time.Time) (at time.Time, ok bool) {
	p := patterns()
	if m := p.clock.FindStringSubmatch(text); m != nil {
		return clock(m[1:], now)
	}
	if m := p.date.FindStringSubmatch(text); m != nil {
		at, err := time.Parse("2006-01-02 15:04", m[1]+" "+m[2])
		return at, err == nil
	}
	if m := p.after.FindStringSubmatch(text); m != nil {
		if d := after(m[1]); d > 0 {
			return now.Add(d), true
		}
	}
	return time.Time{}, false
}

// clock returns the time of month, day, year, hour, minute, a or p, and zone. The first three and the
// zone may be empty.
func clock(m []string, now time.Time) (at time.Time, ok bool) {
	if m[6] != "" {
		zone, err := time.LoadLocation(m[6])
		if err != nil {
			return at, false
		}
		now = now.In(zone)
	}
	hour, _ := strconv.Atoi(m[3])
	minute, _ := strconv.Atoi(m[4])
	if hour < 1 || hour > 12 || minute > 59 {
		return at, false
	}
	hour %= 12
	if strings.EqualFold(m[5], "p") {
		hour += 12
	}
	if m[0] == "" {
		at = time.Date(now.Year(), now.Month(), now.Day(), hour, minute, 0, 0, now.Location())
		if !at.After(now) {
			at = at.AddDate(0, 0, 1)
		}
		return at, true
	}
	month, err := time.Parse("Jan", strings.ToUpper(m[0][:1])+strings.ToLower(m[0][1:]))
	day, _ := strconv.Atoi(m[1])
	if err != nil || day < 1 || day > 31 {
		return at, false
	}
	year := now.Year()
	if m[2] != "" {
		year, _ = strconv.Atoi(m[2])
	}
	at = time.Date(year, month.Month(), day, hour, minute, 0, 0, now.Location())
	if m[2] == "" && at.Before(now.AddDate(0, -6, 0)) { // in January of a limit that began in December
		at = at.AddDate(1, 0, 0)
	}
	return at, true
}

// after returns the sum of durations in words; 0: none.
func after(words string) (sum time.Duration) {
	for words != "" {
		m := patterns().unit.FindStringSubmatchIndex(words)
		if m == nil {
			break
		}
		n, err := strconv.ParseFloat(words[m[2]:m[3]], 64)
		unit := map[string]time.Duration{"d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second}
		name := strings.ToLower(words[m[4]:m[5]])
		each := unit[name[:1]]
		if name == "ms" {
			each = time.Millisecond
		}
		if err != nil || n > float64(maxAfter/each) {
			return 0
		}
		sum += time.Duration(n * float64(each))
		words = words[m[5]:]
	}
	return min(sum, maxAfter)
}
