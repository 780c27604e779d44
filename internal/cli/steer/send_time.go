package steer

import (
	"time"

	"agentctl/internal/exit"
)

// sendTime are the flags that schedule a message.
type sendTime struct {
	At string
	In time.Duration
}

// clockTime is the layout of a time of day.
const clockTime = "15:04"

// timeLayouts are the layouts of --at in addition to clockTime. Layouts without a zone are local
// times.
var timeLayouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"}

// notBefore returns when the message is due; nil: now.
func (t *sendTime) notBefore(now time.Time) (*time.Time, error) {
	switch {
	case t.At != "" && t.In != 0:
		return nil, exit.Usagef("--at and --in name two times: pass one")
	case t.In < 0:
		return nil, exit.Usagef("invalid --in %s: want a positive duration such as 2h", t.In)
	case t.In > 0:
		at := now.Add(t.In)
		return &at, nil
	case t.At == "":
		return nil, nil
	}
	if clock, err := time.Parse(clockTime, t.At); err == nil {
		at := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), 0, 0, now.Location())
		if !at.After(now) {
			at = time.Date(now.Year(), now.Month(), now.Day()+1, clock.Hour(), clock.Minute(), 0, 0, now.Location())
		}
		return &at, nil
	}
	for _, layout := range timeLayouts {
		at, err := time.ParseInLocation(layout, t.At, now.Location())
		if err == nil && !at.After(now) {
			return nil, exit.Usagef("--at %s is in the past", t.At)
		}
		if err == nil {
			return &at, nil
		}
	}
	return nil, exit.Usagef("invalid --at %q: want 15:04, 2006-01-02 15:04 or 2006-01-02T15:04:05Z", t.At)
}
