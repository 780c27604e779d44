package sessionview

import (
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestJumpStatusKept(t *testing.T) {
	s := openAtEnd(t, 1200)
	s.setSearchResults(func(d protocol.HistoryData) protocol.HistoryResult {
		n := int(d.Before-1) / 6
		return tuitest.FinishedTurns(max(0, n-d.Limit), n)
	})
	s.applyJournal()
	s.press("tab")
	s.m.Update(tuitest.KeyPress("E"))
	s.mustShow("looking further back …")
	s.now = s.now.Add(time.Minute)
	s.tick()
	s.mustShow("looking further back …")
}
