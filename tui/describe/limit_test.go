package describe

import (
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestLimitsInWords(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	later := noon.Add(time.Minute)
	at := func(t time.Time) string { return t.Format("15:04") }
	for want, got := range map[string]string{
		"usage limit":                            Limited(nil, at),
		"usage limit, resets 12:00":              Limited(&noon, at),
		"held after a usage limit":               Hold(&protocol.Hold{Reason: protocol.HoldLimit}, at),
		"held after a usage limit, resets 12:00": Hold(&protocol.Hold{Reason: protocol.HoldLimit, ResetsAt: &noon}, at),
		"held after a usage limit, continues 12:01 by bob": Hold(&protocol.Hold{
			Reason: protocol.HoldLimit, ResetsAt: &noon, Until: &later, By: &tuitest.Bob,
		}, at),
		"5 hours 90%, resets 12:00": Window(&protocol.UsageWindow{Name: "five_hour", Percent: 90, ResetsAt: &noon}, at),
		"other window 7%":           Window(&protocol.UsageWindow{Name: "other_\x1b[2Jwindow", Percent: 7}, at),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if w := FullestWindow([]protocol.UsageWindow{{Name: "a", Percent: 1}, {Name: "b", Percent: 9}, {Name: "c"}}); w.Name != "b" {
		t.Errorf("fullest %+v", w)
	}
	if FullestWindow(nil) != nil {
		t.Error("no window is the fullest")
	}
}
