package pane

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
		{"K", "▌  ✗ error 30"},
		{"K", "▌? request 30"},
		{"K", "▌✓ call 30"},
		{"K K", "▌? request 20"},
		{"J", "▌  ✗ error 20"},
		{"J J J J", "there is no tool call, approval or error after"},
		{"K K K K K K K K K K K K K K", "there is no tool call, approval or error before"},
	} {
		s.press(strings.Fields(c.keys)...)
		s.MustShow(c.want)
	}
}

func TestNavigationFailedTurn(t *testing.T) {
	j := tuitest.MixedSession(5)
	j.UserMessage(tuitest.Ada, "m9", "fail")
	j.Add(protocol.TurnEnded, protocol.TurnEndedData{Reason: protocol.ReasonError, Message: "the model is gone"})
	j.Turn = ""
	s := open(t, j, 80, 20)
	s.press("tab", "[", "J")
	s.MustShow("▌  ── error: the model is gone")
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
	s.Session.ReplyToSearch(func(protocol.HistoryData) protocol.HistoryResult { return page })
	s.applyJournal()
	s.Journal.Seq = 21
	tries(s.Journal, 3, protocol.ToolFailed)
	tries(s.Journal, 4, protocol.ToolDenied)
	s.applyJournal()
	s.press("tab")
	for _, c := range []struct{ key, want string }{
		{"K", "▌✓ beside 4"},
		{"K", "call 4"},
		{"K", "▌✓ beside 3"},
		{"K", "▌✗ call 3"},
		{"K", "▌✓ beside 2"},
		{"J", "▌✗ call 3"},
	} {
		s.press(c.key)
		s.MustShow(c.want)
	}
}

func TestEndFollows(t *testing.T) {
	for _, keys := range [][]string{{"ctrl+end"}, {"tab", "G"}, {"tab", "end"}} {
		s := open(t, tuitest.LongSession(40), 60, 20)
		s.press("pgup", "pgup")
		s.MustShow("below")
		s.press(keys...)
		s.Journal.UserMessage(tuitest.Ada, "m99", "what is new")
		s.applyJournal()
		s.MustShow("what is new")
	}
}

func TestJumpLoadsHistory(t *testing.T) {
	s := openAtEnd(t, 6000)
	pages := 0
	s.Session.ReplyToSearch(func(d protocol.HistoryData) protocol.HistoryResult {
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
	s.press("K")
	s.MustShow("▌  ✗ answer 500")
	if took := pages - before; took > 8 {
		t.Errorf("got %d pages loaded, want at most 8", took)
	}
	s.press("K")
	s.MustShow("there is no tool call, approval or error before")
	if len(s.Session.Commands()) != 0 {
		t.Error("the jump sent other commands than history")
	}
}
