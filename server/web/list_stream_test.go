package web_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/protocol"
)

func TestTheListIsFollowed(t *testing.T) {
	bubble(t, func(t *testing.T, w *testServer) {
		first := w.runTurn("few")
		s := w.stream("/api/sessions/events")
		got := s.received()
		var list protocol.ListResult
		if len(got) != 1 || got[0].name != "list" || json.Unmarshal(got[0].data, &list) != nil ||
			len(list.Sessions) != 1 || list.Sessions[0].Session != first {
			t.Fatalf("begins with %v", got)
		}
		second := w.runTurn("hang")
		status := map[string]protocol.Status{}
		for _, e := range s.received() {
			var sum protocol.Summary
			if e.Type != protocol.SummaryChanged || e.name != "" || e.id != "" || e.Decode(&sum) != nil {
				t.Errorf("got %q %q %s", e.name, e.id, e.data)
			}
			status[sum.Session] = sum.Status
		}
		if len(status) != 1 || status[second] != protocol.Running {
			t.Errorf("changed %v", status)
		}
		time.Sleep(time.Minute + time.Second)
		synctest.Wait()
		if s.pings != 2 {
			t.Errorf("%d pings in a minute, want 2", s.pings)
		}
		w.do(protocol.DoClose, second, protocol.CloseData{Delete: true})
		if got := s.received(); len(got) == 0 || got[len(got)-1].Session != second {
			t.Errorf("at the removal: %v", got)
		}
	})
}
