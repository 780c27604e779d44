package describe

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// Limited describes a turn that a usage limit ended. at formats a time.
func Limited(resets *time.Time, at func(time.Time) string) string {
	if resets == nil {
		return "usage limit"
	}
	return "usage limit, resets " + at(*resets)
}

// windowNames has the names of windows that agents report.
var windowNames = map[string]string{
	"five_hour": "5 hours", "seven_day": "week", "seven_day_opus": "week Opus", "seven_day_sonnet": "week Sonnet",
}

// Window describes the usage of a window, like "5 hours 90%, resets 15:04". at formats a time.
func Window(w *protocol.UsageWindow, at func(time.Time) string) string {
	name := transcript.CleanLine(cmp.Or(windowNames[w.Name], strings.ReplaceAll(w.Name, "_", " ")))
	text := format.Words(name, 24) + " " + format.Percent(w.Percent)
	if w.ResetsAt != nil {
		text += ", resets " + at(*w.ResetsAt)
	}
	return text
}

// FullestWindow returns the window that is used most; nil: no window is known.
func FullestWindow(list []protocol.UsageWindow) *protocol.UsageWindow {
	if len(list) == 0 {
		return nil
	}
	w := slices.MaxFunc(list, func(a, b protocol.UsageWindow) int { return cmp.Compare(a.Percent, b.Percent) })
	return &w
}
