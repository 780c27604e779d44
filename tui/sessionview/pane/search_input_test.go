package pane

import (
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// searches returns the texts of the searches sent.
func (s *rig) searches() []string {
	var out []string
	for _, c := range s.Session.Commands() {
		if d, ok := c.Data.(protocol.SearchData); ok {
			out = append(out, d.Query)
		}
	}
	return out
}

func TestSearchWhileTyping(t *testing.T) {
	s := open(t, tuitest.LongSession(300), 80, 20)
	s.Session.ReplyToSearch(tuitest.NoHistory, []protocol.Hit{
		tuitest.Hit("m299", 2+6*299, 4+6*299, protocol.HitText, "t"),
		tuitest.Hit("m9", 2+6*9, 4+6*9, protocol.HitText, "t"),
	})
	s.press("ctrl+f")
	s.typeText("answer")
	s.MustHide(" of 2")
	s.stopTyping()
	s.MustShow("find: answer", "   1 of 2\n", "▌▏ answer 299")
	if got := s.searches(); len(got) != 1 || got[0] != "answer" {
		t.Errorf("searched %q, want one search after the last key", got)
	}
	s.typeText("n") // text, not the next match
	s.MustShow("find: answern")
	s.press("backspace")
	s.stopTyping()
	s.press("enter")
	if got := s.searches(); len(got) != 2 {
		t.Errorf("searched %q: enter searches again", got)
	}
	s.press(">")
	s.MustShow("2 of 2", "▌▏ answer 9")
}

func TestSearchWhileTypingIsUndoneByEsc(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "run it")
	j.Tool("c1", protocol.ToolStartedData{Name: "shell", Title: "make"}, "needle\n"+strings.Repeat("line\n", 30))
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})
	j.Text("t", strings.Repeat("- hay\n", 60))
	j.CaughtUp()
	s := open(t, j, 80, 20)
	before := s.Text()
	s.press("ctrl+f")
	s.typeText("needle")
	s.stopTyping()
	s.MustShow("▌  needle")
	s.press("esc")
	if after := s.Text(); after != before {
		t.Errorf("after esc the screen shows\n%s\nwant\n%s", after, before)
	}
	list := s.pane.View.List
	tool, ok := list.Find(4)
	if !ok || !list.Collapsed(tool) {
		t.Error("the output stays expanded after esc")
	}
	s.press("ctrl+f")
	s.typeText("needle")
	s.stopTyping()
	s.press("enter", "esc")
	s.press("ctrl+home")
	s.MustShow("needle")
}

func TestLocalSearchStepsThroughLoadedAndOlderTurns(t *testing.T) {
	s := openAtEnd(t, 60)
	s.Session.Reply = func(a tuitest.Command) (any, error) {
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
	s.stopTyping()
	s.MustShow("▌▏ answer 9")
	s.press("enter", ">", ">", ">", ">", ">")
	s.MustShow("▌▏ answer 4")
	s.press("<")
	s.MustShow("▌▏ answer 5")
}

func TestSearchWhileTypingWithoutMatch(t *testing.T) {
	s := open(t, tuitest.LongSession(3), 80, 20)
	s.Session.ReplyToSearch(tuitest.NoHistory, nil)
	s.press("ctrl+f")
	s.typeText("nowhere")
	s.stopTyping()
	s.MustShow("find: nowhere", "no match ")
	s.press("ctrl+u")
	s.stopTyping()
	s.MustHide("no match ")
	s.press("esc")
	s.MustHide("find:")
}
