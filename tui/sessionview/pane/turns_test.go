package pane

import (
	"errors"
	"fmt"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/transcriptview"
)

func TestTurnsFilterAndJump(t *testing.T) {
	s := open(t, tuitest.LongSession(300), 80, 20)
	s.press("f10")
	s.MustShow("turns · 300", "▸ ", "question 299")
	s.typeText("q 17")
	s.MustShow("turns · 13 of 300", "question 17 ", "question 217")
	s.press("up", "up", "down", "enter")
	s.MustHide("filter:")
	s.MustShow("▎ question 179")
	if !s.pane.search.focused {
		t.Error("the transcript does not have the focus after a jump")
	}
	s.press("f10")
	s.typeText("nothing like it")
	s.MustShow("no turn matches")
	s.press("enter", "esc")
	s.MustHide("filter:")
}

func TestTurnsLoadHistory(t *testing.T) {
	s := openAtEnd(t, 1200)
	s.Session.ReplyToSearch(func(d protocol.HistoryData) protocol.HistoryResult {
		n := int(d.Before-1) / 6
		return tuitest.FinishedTurns(max(0, n-d.Limit), n)
	})
	s.applyJournal()
	s.press("f10")
	s.MustShow("turns · 100 · older turns above", "question 199")
	s.typeText("question 42")
	s.MustShow("turns · 2 of 200", "question 142")
	s.press("up", "enter")
	s.MustShow("▎ question 42")
}

func TestTurnsReportMissingHistory(t *testing.T) {
	s := openAtEnd(t, 1200)
	s.Session.Reply = func(a tuitest.Command) (any, error) {
		if d, ok := a.Data.(protocol.HistoryData); ok && d.Limit == transcriptview.MaxPage {
			return nil, errors.New("the log is damaged")
		}
		return protocol.HistoryResult{}, nil
	}
	s.applyJournal()
	s.press("f10")
	s.MustShow("older turns not available: the log is")
}

func TestTurnsFollowTheSession(t *testing.T) {
	s := open(t, tuitest.LongSession(3), 80, 20)
	s.press("f10")
	s.Journal.UserMessage(tuitest.Ada, "m9", "and now?")
	s.applyJournal()
	s.MustShow("turns · 4", "and now?", "running")
	for i := range 3 {
		s.Journal.Tool(fmt.Sprint("c", i), protocol.ToolStartedData{Name: "shell"}, "")
	}
	s.applyJournal()
	s.MustShow("3 tool calls")
}
