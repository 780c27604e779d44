package statusline

import (
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// limited returns the journal of a session that a usage limit stopped, until a time if it continues.
func limited(until *time.Time) *tuitest.Journal {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	resets := tuitest.Start.Add(3 * time.Hour)
	j.Add(protocol.LimitsUpdated, protocol.LimitsData{Windows: []protocol.UsageWindow{
		{Name: "five_hour", Percent: 100, ResetsAt: &resets}, {Name: "seven_day", Percent: 40},
	}})
	j.Add(protocol.TurnEnded, protocol.TurnEndedData{
		Reason: protocol.ReasonLimited, Code: protocol.CodeLimited, Message: "used up", ResetsAt: &resets,
	})
	j.Add(protocol.QueueHeld, protocol.Hold{ID: "h", Reason: protocol.HoldLimit, ResetsAt: &resets, Until: until})
	j.CaughtUp()
	return j
}

func TestTheLineShowsTheUsageLimit(t *testing.T) {
	l := open(t, limited(nil), false, "")
	l.applyJournal()
	at := tuitest.Start.Add(3 * time.Hour).UTC().Format("15:04")
	l.MustShow("‖ usage limit, resets "+at, "5 hours 100%")
	until := tuitest.Start.Add(3*time.Hour + time.Minute)
	l = open(t, limited(&until), false, "")
	l.applyJournal()
	l.MustShow("‖ usage limit, continues " + until.UTC().Format("15:04"))
}
