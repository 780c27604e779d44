package resettime

import (
	"testing"
	"time"
)

func TestTimesInTheWordsOfAgentsAndProviders(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 12, 28, 17, 45, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		// claude-agent-acp 0.101.0
		"You've hit your 5-hour limit · resets 8:44pm (UTC)": now.Add(2*time.Hour + 59*time.Minute),
		"You've hit your session limit · resets 3pm (UTC)": time.Date(
			2026, 12, 29, 15, 0, 0, 0, time.UTC,
		),
		"You've hit your weekly limit · resets Dec 30, 3pm (Europe/Berlin)": time.Date(
			2026, 12, 30, 15, 0, 0, 0, berlin,
		),
		"You've hit your weekly limit · resets Jan 2, 2027, 12:30am (UTC)": time.Date(
			2027, 1, 2, 0, 30, 0, 0, time.UTC,
		),
		"You've hit your weekly limit · resets Jan 2, 12pm (UTC)": time.Date(
			2027, 1, 2, 12, 0, 0, 0, time.UTC,
		),
		// codex-acp 2.6.0
		"visit https://chatgpt.com/settings/usage to purchase more credits or try again at 8:43 PM.": now.Add(
			2*time.Hour + 58*time.Minute,
		),
		"or try again at Dec 30th, 2026 8:43 PM.": time.Date(
			2026, 12, 30, 20, 43, 0, 0, time.UTC,
		),
		"Try again in 3 days 4 hours 5 minutes.": now.Add(
			76*time.Hour + 5*time.Minute,
		),
		"Your quota will reset after 20h18m23s.": now.Add(
			20*time.Hour + 18*time.Minute + 23*time.Second,
		),
		"Please try again in 3 hours.": now.Add(
			3 * time.Hour,
		),
		"Rate limit reached. Please try again in 1.5s. Visit us": now.Add(
			1500 * time.Millisecond,
		),
		"Please retry in 350ms": now.Add(
			350 * time.Millisecond,
		),
		"You will regain access on 2027-01-01 at 00:00 UTC.": time.Date(
			2027, 1, 1, 0, 0, 0, 0, time.UTC,
		),
		// no time
		"":                         {},
		"Please try again later":   {},
		"resets 25pm":              {},
		"resets 3pm (Moon/Base)":   {},
		"try again in 3 fortnight": {},
		"try again in 99999999999999999999 hours": {},
		"the test resets 3 times":                 {},
	} {
		at, ok := In(text, now)
		if ok != !want.IsZero() || !at.Equal(want) {
			t.Errorf("%q: %s, %v, want %s", text, at, ok, want)
		}
	}
}

func FuzzIn(f *testing.F) {
	f.Add("resets Nov 30, 3:05pm (UTC)")
	f.Add("try again in 1 day, 2 hours and 3 minutes")
	now := time.Date(2026, 12, 28, 17, 45, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		if at, ok := In(text, now); !ok && !at.IsZero() {
			t.Errorf("%q: %s", text, at)
		}
	})
}
