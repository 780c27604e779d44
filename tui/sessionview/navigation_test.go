package sessionview

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestNavigationKeys(t *testing.T) {
	s := open(t, tuitest.MixedSession(35), 80, 20)
	s.press("tab")
	for _, c := range []struct{ keys, want string }{
		{"[", "▌▎ question 34"},
		{"[ [", "▌▎ question 32"},
		{"]", "▌▎ question 33"},
		{"T", "▌✓ call 30"},
		{"T T", "▌✓ call 10"},
		{"t", "▌✓ call 20"},
		{"A", "▌? request 10"},
		{"a a", "▌? request 30"},
		{"E", "▌  ✗ error 20"},
		{"e", "▌  ✗ error 30"},
		{"e", "there is no error after"},
		{"E E E E", "there is no error before"},
		{"a a a a", "there is no approval after"},
	} {
		s.press(strings.Fields(c.keys)...)
		s.mustShow(c.want)
	}
}

func TestNavigationFailedTurn(t *testing.T) {
	j := tuitest.MixedSession(5)
	j.UserMessage(tuitest.Ada, "m9", "fail")
	j.Add(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonError, Message: "the model is gone"})
	j.Turn = ""
	s := open(t, j, 80, 20)
	s.press("tab", "[", "e")
	s.mustShow("▌  ── error: the model is gone")
}

func TestNavigationFailedToolCalls(t *testing.T) {
	tries := func(j *tuitest.Journal, i int, status protocol.ToolStatus) {
		j.UserMessage(tuitest.Ada, fmt.Sprint("m", i), fmt.Sprint("question ", i))
		j.Add(protocol.ToolStarted, protocol.ToolStartedData{Tool: fmt.Sprint("c", i), Title: fmt.Sprint("call ", i)})
		j.Add(protocol.ToolStarted, protocol.ToolStartedData{Tool: fmt.Sprint("d", i), Title: fmt.Sprint("beside ", i)})
		j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: fmt.Sprint("d", i), Status: protocol.ToolCompleted})
		j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: fmt.Sprint("c", i), Status: status})
		j.EndTurn(protocol.ReasonCompleted)
	}
	s := openAtEnd(t, 21)
	earlier := &tuitest.Journal{At: tuitest.Start}
	for i, status := range []protocol.ToolStatus{protocol.ToolFailed, protocol.ToolCompleted, protocol.ToolFailed} {
		tries(earlier, i, status)
	}
	page := protocol.HistoryResult{Epoch: "k3f9ab", First: 1, Last: 21}
	for _, u := range earlier.Take() {
		page.Events = append(page.Events, protocol.MustEncode(u.Event))
	}
	s.setSearchResults(func(protocol.HistoryData) protocol.HistoryResult { return page })
	s.applyJournal()
	s.journal.Seq = 21
	tries(s.journal, 3, protocol.ToolFailed)
	tries(s.journal, 4, protocol.ToolDenied)
	s.applyJournal()
	s.press("tab")
	for _, c := range []struct{ key, want string }{
		{"E", "▌✗ call 3"},
		{"E", "▌✗ call 2"},
		{"E", "▌✗ call 0"},
		{"E", "there is no error before"},
		{"e", "▌✗ call 2"},
		{"e", "▌✗ call 3"},
		{"e", "there is no error after"},
		{"T", "▌✓ beside 2"},
	} {
		s.press(c.key)
		s.mustShow(c.want)
	}
}

func TestNavigationWhileTyping(t *testing.T) {
	s := open(t, tuitest.LongSession(40), 60, 20)
	s.typeText("half a thought")
	for _, want := range []string{"question 3", "question 3", "question 3", "question 3"} {
		s.press("alt+up")
		if top := strings.Split(s.text(), "\n")[1]; !strings.Contains(s.text(), want) {
			t.Errorf("got top line %q, want %q on the screen", top, want)
		}
	}
	if top := strings.Split(s.text(), "\n")[2]; !strings.HasPrefix(top, " ▎ question 3") {
		t.Errorf("got %q at the top, want the start of a turn:\n%s", top, s.text())
	}
	for range 9 {
		s.press("alt+down")
	}
	s.mustShow("answer 39", "half a thought")
	if !s.m.transcript.view.List.Following() {
		t.Error("the list does not follow its end")
	}
}

func TestEndFollows(t *testing.T) {
	for _, keys := range [][]string{{"ctrl+end"}, {"tab", "G"}, {"tab", "end"}} {
		s := open(t, tuitest.LongSession(40), 60, 20)
		s.press("pgup", "pgup")
		s.mustShow("below")
		s.press(keys...)
		s.journal.UserMessage(tuitest.Ada, "m99", "what is new")
		s.applyJournal()
		s.mustShow("what is new")
	}
}

func TestJumpLoadsHistory(t *testing.T) {
	s := openAtEnd(t, 6000)
	pages := 0
	s.setSearchResults(func(d protocol.HistoryData) protocol.HistoryResult {
		pages++
		upto := int(d.Before-1) / 6
		page := tuitest.FinishedTurns(max(0, upto-d.Limit), upto)
		if page.First < 6*500 && page.Last > 6*500 { // the only error
			for i, raw := range page.Events {
				if strings.Contains(string(raw), `"answer 500"`) {
					toError := strings.NewReplacer("text.delta", "error", `"part":"t","text"`, `"message"`)
					page.Events[i] = []byte(toError.Replace(string(raw)))
				}
			}
		}
		return page
	})
	s.applyJournal()
	s.press("tab")
	before := pages
	s.press("E")
	s.mustShow("▌  ✗ answer 500")
	if took := pages - before; took > 8 {
		t.Errorf("got %d pages loaded, want at most 8", took)
	}
	s.press("E")
	s.mustShow("there is no error before")
	if len(s.session.Commands()) != 0 {
		t.Error("the jump sent other commands than history")
	}
}

func TestJumpCancelledByKey(t *testing.T) {
	s := openAtEnd(t, 1200)
	s.setSearchResults(func(d protocol.HistoryData) protocol.HistoryResult {
		n := int(d.Before-1) / 6
		return tuitest.FinishedTurns(max(0, n-d.Limit), n)
	})
	s.applyJournal()
	s.press("tab")
	cmd := s.m.Update(tuitest.KeyPress("E"))
	if s.m.transcript.jump == nil {
		t.Fatal("no jump is running")
	}
	s.press("esc")
	if s.m.transcript.jump != nil {
		t.Error("the jump is still running")
	}
	s.run(cmd)
}
