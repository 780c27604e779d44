package list

import (
	"testing"
	"time"

	"agentctl/protocol"
)

func TestTheOldestQueuedMessageHasAnAge(t *testing.T) {
	x, now := New[int](), time.Now()
	for id, queued := range map[string]time.Time{"s_1": now, "s_2": now.Add(-time.Hour), "s_3": {}} {
		x.Add(protocol.Summary{Session: id}, nil)
		x.Update(protocol.Summary{Session: id}, queued)
	}
	if got := x.OldestQueued(); !got.Equal(now.Add(-time.Hour)) {
		t.Errorf("%v", got)
	}
	x.Update(protocol.Summary{Session: "s_2"}, time.Time{})
	x.SetQueued("s_1", time.Time{})
	if got := x.OldestQueued(); !got.IsZero() {
		t.Errorf("%v after the queues are empty", got)
	}
}
