package dashboard

import (
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/tui/sessionlist"
	"agentctl/tui/ui"
)

func TestARowShowsAUsageLimit(t *testing.T) {
	styles := ui.NewStyles(time.UTC, "")
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	styles.Now = func() time.Time { return now }
	past, soon, tomorrow := now.Add(-time.Minute), now.Add(time.Hour), now.Add(24*time.Hour)
	for _, c := range []struct {
		resets, continues *time.Time
		want              string
	}{
		{nil, nil, "limited"},
		{&past, nil, "limited"},
		{&soon, nil, "limited, 1h left"},
		{&soon, &tomorrow, "limited, 24h left"},
	} {
		s := &protocol.Summary{
			Session: "s", Status: protocol.Idle, Reason: protocol.ReasonLimited, ResetsAt: c.resets, Queue: 3, Held: true,
		}
		s.Scheduled = c.continues
		table := &table{styles: styles, list: sessionlist.New()}
		if _, _, got := table.status(s); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
