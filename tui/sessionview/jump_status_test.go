package sessionview

import (
	"testing"
	"time"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
)

func TestTheWordOfATripStandsUntilItsEnd(t *testing.T) {
	s := joining(t, 1200)
	s.finds(func(d protocol.HistoryData) protocol.HistoryResult {
		n := int(d.Before-1) / 6
		return tuitest.FinishedTurns(max(0, n-d.Limit), n)
	})
	s.tell()
	s.press("tab")
	s.m.Update(tuitest.KeyPress("E"))
	s.shows("looking further back …")
	s.now = s.now.Add(time.Minute)
	s.give(tickMsg{})
	s.shows("looking further back …")
}
