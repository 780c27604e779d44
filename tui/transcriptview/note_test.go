package transcriptview

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestTurnEndLeavesOutUnknownCounts(t *testing.T) {
	for want, u := range map[string]*protocol.Usage{
		"── completed":                          nil,
		"── completed · 3 tokens out":           {Output: 3, Cached: 5},
		"── completed · 1.5k tokens in · 3 out": {Input: 1500, Output: 3},
	} {
		turn := &protocol.Turn{End: &protocol.TurnEndedData{Reason: protocol.ReasonCompleted, Usage: u}}
		if got := turnEndNote(nil, turn, nil, nil).text; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// An event of a newer server is shown as one that this version does not know.
func TestAnUnknownEventIsNamed(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go on")
	j.Add("weather.changed", map[string]string{"to": "rain"})
	j.CaughtUp()
	open(t, j, 80, 10).mustShow("? weather.changed, an event that this version does not know")
}
