package sessionview

import (
	"errors"
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// outlineScreens are the golden screens of the turns.
var outlineScreens = []struct {
	name          string
	width, height int
}{{"turns_40x12", 40, 12}, {"turns_80x24", 80, 24}, {"turns_200x20", 200, 20}}

// outlineJournal returns a session with turns of every kind.
func outlineJournal() *tuitest.Journal {
	j := tuitest.Conversation()
	j.Add(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonInterrupted, DurationMS: 65_000})
	j.UserMessage(tuitest.Ada, "m3", "Deploy\x1b[2J it\nto production")
	j.Add(protocol.TurnEnded, protocol.TurnEndedData{
		Reason: protocol.ReasonError, DurationMS: 900, Usage: &protocol.Usage{Cost: 0.1234, Currency: "USD"},
	})
	j.UserMessage(tuitest.Bob, "m4", "Tidy the module, please, and tell me which of the imports are no longer needed")
	j.RequestApproval(tuitest.CommandApproval())
	j.CaughtUp()
	return j
}

func TestGoldenTurns(t *testing.T) {
	for _, c := range outlineScreens {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, outlineJournal(), c.width, c.height)
			s.press("f10", "up")
			tuitest.Golden(t, s.text())
		})
	}
}

func TestTurnsFilterAndJump(t *testing.T) {
	s := open(t, tuitest.LongSession(300), 80, 20)
	s.press("f10")
	s.mustShow("turns · 300", "▸ ", "question 299")
	s.typeText("q 17")
	s.mustShow("turns · 13 of 300", "question 17 ", "question 217")
	s.press("up", "up", "down", "enter")
	s.mustHide("filter:")
	s.mustShow("▎ question 179")
	if s.m.focus != onTranscript {
		t.Error("the transcript does not have the focus after a jump")
	}
	s.press("O")
	s.typeText("nothing like it")
	s.mustShow("no turn matches")
	s.press("enter", "esc")
	s.mustHide("filter:")
}

func TestTurnsTypeIntoTheFilterOnly(t *testing.T) {
	s := open(t, outlineJournal(), 80, 24)
	s.press("tab", "f10")
	s.typeText("qyndO/jk ")
	s.update(tea.PasteMsg{Content: "pasted"})
	s.mustShow("filter: qyndO/jk pasted")
	if sent := s.session.Commands(); len(sent) > 0 {
		t.Errorf("the filter sends %v", sent)
	}
	s.press("esc")
	if text := s.m.composer.Value(); text != "" {
		t.Errorf("the message is %q", text)
	}
}

func TestTurnsLoadHistory(t *testing.T) {
	s := openAtEnd(t, 1200)
	s.setSearchResults(func(d protocol.HistoryData) protocol.HistoryResult {
		n := int(d.Before-1) / 6
		return tuitest.FinishedTurns(max(0, n-d.Limit), n)
	})
	s.applyJournal()
	s.press("f10")
	s.mustShow("turns · 100 · older turns above", "question 199")
	s.typeText("question 42")
	s.mustShow("turns · 2 of 200", "question 142")
	s.press("up", "enter")
	s.mustShow("▎ question 42")
}

func TestTurnsReportMissingHistory(t *testing.T) {
	s := openAtEnd(t, 1200)
	s.session.Reply = func(a tuitest.Command) (any, error) {
		if d, ok := a.Data.(protocol.HistoryData); ok && d.Limit == outlineTurns {
			return nil, errors.New("the log is damaged")
		}
		return protocol.HistoryResult{}, nil
	}
	s.applyJournal()
	s.press("f10")
	s.mustShow("older turns not available: the log is")
}

func TestTurnsFollowTheSession(t *testing.T) {
	s := open(t, tuitest.LongSession(3), 80, 20)
	s.press("f10")
	s.journal.UserMessage(tuitest.Ada, "m9", "and now?")
	s.applyJournal()
	s.mustShow("turns · 4", "and now?", "running")
	for i := range 3 {
		s.journal.Tool(fmt.Sprint("c", i), protocol.ToolStartedData{Name: "shell"}, "")
	}
	s.applyJournal()
	s.mustShow("3 tool calls")
}
