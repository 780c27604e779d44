package tui

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/sessionlist"
	"agentctl/tui/split"
)

func TestAWalkVisitsReachableSessionsOnceAndEndsWhereItBegan(t *testing.T) {
	list := sessionlist.New()
	for _, id := range []string{"a", "b", "lost"} {
		list.Put(protocol.Summary{Session: id, Status: protocol.Idle, Queue: 1, Held: true})
	}
	list.Put(protocol.Summary{Session: "d", Status: protocol.Waiting, Approvals: 1, Asked: &tuitest.Start})
	reachable := func(session string) bool { return session != "lost" }
	var n pendingNavigation
	begin := place{session: "c", layout: split.New("c"), selected: "c"}
	now, visited := begin, map[string]bool{}
	for range 2 {
		next, _ := n.next(now, list, reachable)
		visited[next] = true
		now = place{session: next}
	}
	if !visited["a"] || !visited["b"] {
		t.Errorf("visited %v, want a and b", visited)
	}
	if next, start := n.next(now, list, reachable); next != "" || start != begin {
		t.Errorf("ended with %q at %+v, want the start", next, start)
	}
	if n.visited != nil {
		t.Error("the walk has not ended")
	}
}
