package sessionview

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/transcriptview"
)

// fireFinds fires the timers of typed searches.
func (s *testScreen) fireFinds() {
	timers := s.timers
	s.timers = nil
	for _, msg := range timers {
		if _, ok := msg.(findMsg); ok {
			s.update(msg)
		} else {
			s.timers = append(s.timers, msg)
		}
	}
}

// searches returns the texts of the searches sent.
func (s *testScreen) searches() []string {
	var out []string
	for _, c := range s.session.Commands() {
		if d, ok := c.Data.(protocol.SearchData); ok {
			out = append(out, d.Query)
		}
	}
	return out
}

func TestSearchWhileTyping(t *testing.T) {
	s := open(t, tuitest.LongSession(300), 80, 20)
	s.setSearchResults(noHistory, []protocol.Hit{
		hit("m299", 2+6*299, protocol.HitText, "t"), hit("m9", 2+6*9, protocol.HitText, "t"),
	})
	s.press("ctrl+f")
	s.typeText("answer")
	s.mustHide(" of 2")
	s.fireFinds()
	s.mustShow("find: answer", "   1 of 2\n", "▌▏ answer 299")
	if got := s.searches(); len(got) != 1 || got[0] != "answer" {
		t.Errorf("searched %q, want one search after the last key", got)
	}
	s.typeText("n") // text, not the next match
	s.mustShow("find: answern")
	s.press("backspace")
	s.fireFinds()
	s.press("enter")
	if got := s.searches(); len(got) != 2 {
		t.Errorf("searched %q: enter searches again", got)
	}
	s.press("n")
	s.mustShow("2 of 2", "▌▏ answer 9")
}

func TestSearchWhileTypingIsUndoneByEsc(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "run it")
	j.Tool("c1", protocol.ToolStartedData{Name: "shell", Title: "make"}, "needle\n"+strings.Repeat("line\n", 30))
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})
	j.Text("t", strings.Repeat("- hay\n", 60))
	j.CaughtUp()
	s := open(t, j, 80, 20)
	before := s.text()
	s.press("ctrl+f")
	s.typeText("needle")
	s.fireFinds()
	s.mustShow("▌  needle")
	s.press("esc")
	if after := s.text(); after != before {
		t.Errorf("after esc the screen shows\n%s\nwant\n%s", after, before)
	}
	list := s.m.transcript.view.List
	tool, ok := list.FindAnchor(transcriptview.AnchorName("turn-m1", protocol.HitTool, "c1"))
	if !ok || !list.Collapsed(tool) {
		t.Error("the output stays expanded after esc")
	}
	s.press("ctrl+f")
	s.typeText("needle")
	s.fireFinds()
	s.press("enter", "esc")
	s.press("ctrl+home")
	s.mustShow("needle")
}

func TestLocalSearchCountsMatches(t *testing.T) {
	j := tuitest.LongSession(localSearchStep)
	j.UserMessage(tuitest.Ada, "last", "the answer, or another answer?\nanswer!")
	s := open(t, j, 80, 20)
	s.refuse(tuitest.ErrCannotSearch)
	s.press("ctrl+f")
	s.typeText("answer")
	s.fireFinds()
	total := fmt.Sprint(" of ", localSearchStep+3)
	s.mustShow("   1" + total)
	s.press("enter", "n")
	s.mustShow("2" + total) // the line has two matches
	s.press("n")
	s.mustShow("4"+total, fmt.Sprint("▌▏ answer ", localSearchStep-1))
	s.press("N")
	s.mustShow("2" + total)
	s.press("N")
	s.mustShow("1" + total)
}

func TestLocalSearchCountsLoadedTurns(t *testing.T) {
	s := openAtEnd(t, 60)
	s.session.Reply = func(a tuitest.Command) (any, error) {
		d, ok := a.Data.(protocol.HistoryData)
		if !ok {
			return nil, tuitest.ErrCannotSearch
		}
		n := int(d.Before-1) / 6
		return tuitest.FinishedTurns(max(0, n-5), n), nil
	}
	s.applyJournal()
	s.press("ctrl+f")
	s.typeText("answer")
	s.fireFinds()
	s.mustShow("1 of 5+")
	s.press("enter", "n", "n", "n", "n", "n")
	s.mustShow("6 of 10 ")
}

func TestSearchWhileTypingWithoutMatch(t *testing.T) {
	s := open(t, tuitest.LongSession(3), 80, 20)
	s.setSearchResults(noHistory, nil)
	s.press("ctrl+f")
	s.typeText("nowhere")
	s.fireFinds()
	s.mustShow("find: nowhere", "no match ")
	s.press("ctrl+u")
	s.fireFinds()
	s.mustHide("no match ")
	s.press("esc")
	s.mustHide("find:")
}
