package pane

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestSearch(t *testing.T) {
	s := open(t, tuitest.LongSession(300), 60, 20)
	s.press("ctrl+f")
	s.MustShow("find:")
	s.typeText(`"question 17"`)
	if _, cursor := s.Overlays.Top().View(60, 20); cursor == nil {
		t.Error("no cursor in the search field")
	}
	s.press("enter")
	s.MustShow("▌▎ question 179") // the newest match
	s.press(">")
	s.MustShow("▌▎ question 178")
	s.press("<")
	s.MustShow("▌▎ question 179")
	if !strings.Contains(strings.Join(s.lines(), "\n"), s.Styles.Selected.Render("question 17")) {
		t.Error("the match is not highlighted")
	}
	s.press("esc")
	if strings.Contains(strings.Join(s.lines(), "\n"), s.Styles.Selected.Render("question 17")) {
		t.Error("the match is still highlighted")
	}
}

func TestSearchExpandsMatch(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.press("ctrl+f")
	s.typeText("likely a race")
	s.press("enter")
	s.MustShow("▾ thought", "Likely a race.")
}

func TestSearchLoadsHistory(t *testing.T) {
	s := openAtEnd(t, 600)
	s.Session.Reply = func(a tuitest.Command) (any, error) {
		if d, ok := a.Data.(protocol.HistoryData); ok && d.Before == 601 {
			return tuitest.HistoryPage(181, 200, true), nil
		} else if ok {
			return tuitest.HistoryPage(1, 180, false), nil
		}
		return nil, tuitest.ErrCannotSearch
	}
	s.applyJournal()
	s.press("ctrl+f")
	s.typeText("question 42")
	s.press("enter")
	s.MustShow("question 42")
	s.press("ctrl+f")
	s.typeText("7 and never said")
	s.press("enter")
	s.MustShow("no match for")
}

func TestLocalSearchStep(t *testing.T) {
	s := open(t, tuitest.LongSession(localSearchStep), 60, 20)
	s.refuse(tuitest.ErrCannotSearch)
	s.press("ctrl+f")
	s.typeText(`"question 0"`)
	cmd := s.start(tuitest.KeyPress("enter"))
	for range 2 { // the refusal and the first step
		cmd = s.start(tuitest.FirstMessage(cmd))
	}
	if !s.pane.search.running {
		t.Fatal("one step searched all items")
	}
	s.MustShow(`find: "question 0" …`)
	s.Run(cmd)
	s.MustShow("▌▎ question 0")
}

func TestServerSearch(t *testing.T) {
	s := open(t, tuitest.LongSession(300), 80, 20) // every turn has six events, the first starts at seq 2
	s.Session.ReplyToSearch(tuitest.NoHistory,
		[]protocol.Hit{
			tuitest.Hit("m299", 2+6*299, 4+6*299, protocol.HitText, "t"),
			tuitest.Hit("m299", 2+6*299, 2+6*299, protocol.HitUser, "m299"),
		},
		nil,
		[]protocol.Hit{tuitest.Hit("m7", 2+6*7, 4+6*7, protocol.HitText, "t")},
	)
	s.press("ctrl+f")
	s.typeText("er 9")
	s.press("enter")
	s.MustShow("1 of 3", "> older", "▌▏ answer 299")
	s.press("tab") // the keys of the search write into the composer
	s.MustShow("1 of 3")
	s.MustHide("> older")
	s.press("shift+tab")
	s.MustShow("> older")
	s.press(">")
	s.MustShow("2 of 3", "▌▎ question 299")
	s.press(">")
	s.MustShow("3 of 3", "▌▏ answer 7")
	s.press(">")
	s.MustShow("3 of 3", "that is the oldest match")
	s.press("<", "<")
	s.MustShow("1 of 3")
	s.press("<")
	s.MustShow("that is the newest match")
	s.press("esc")
	s.MustHide("find:")
}

func TestServerSearchLoadsHistory(t *testing.T) {
	s := openAtEnd(t, 1200)
	var requests []protocol.HistoryData
	s.Session.ReplyToSearch(func(d protocol.HistoryData) protocol.HistoryResult {
		requests = append(requests, d)
		n := int(d.Before-1) / 6
		first := max(0, n-d.Limit)
		return tuitest.FinishedTurns(first, n)
	}, []protocol.Hit{tuitest.Hit("m42", 6*42+1, 6*42+3, protocol.HitText, "t")})
	s.applyJournal()
	requests = nil
	s.press("ctrl+f")
	s.typeText("answer 42")
	s.press("enter")
	s.MustShow("1 of 1", "▌▏ answer 42")
	if len(requests) == 0 || len(requests) > 3 {
		t.Errorf("got %d history requests, want 1 to 3", len(requests))
	}
}

// Earlier servers place the end of a failed turn at the turn's seq.
func TestAHitAtTheSeqOfATurnShowsTheTurn(t *testing.T) {
	s := open(t, tuitest.LongSession(300), 80, 20)
	s.Session.ReplyToSearch(tuitest.NoHistory, []protocol.Hit{tuitest.Hit("m7", 2+6*7, 2+6*7, protocol.HitError, "")})
	s.press("ctrl+f")
	s.typeText("broken")
	s.press("enter")
	s.MustShow("1 of 1", "question 7")
}

func TestSearchNoMatch(t *testing.T) {
	s := open(t, tuitest.LongSession(3), 60, 20)
	s.Session.ReplyToSearch(tuitest.NoHistory, nil, nil)
	s.press("ctrl+f")
	s.typeText("nowhere")
	s.press("enter")
	s.MustShow("no match for “nowhere”")
	s.press(">", "<")
	s.MustHide(" of ")
}

func TestSearchCancelled(t *testing.T) {
	s := open(t, tuitest.LongSession(300), 60, 20)
	s.Session.ReplyToSearch(tuitest.NoHistory, []protocol.Hit{tuitest.Hit("m0", 2, 2, protocol.HitUser, "")})
	s.press("ctrl+f")
	s.typeText("question")
	cmd := s.start(tuitest.KeyPress("enter"))
	s.press("esc")
	s.Run(cmd)
	s.MustHide("find:")
	s.MustShow("answer 299")
}

func TestSearchFindsNewMessages(t *testing.T) {
	s := open(t, tuitest.LongSession(30), 60, 20)
	s.Session.ReplyToSearch(tuitest.NoHistory, []protocol.Hit{tuitest.Hit("m29", 2+6*29, 4+6*29, protocol.HitText, "t")})
	s.press("ctrl+f")
	s.typeText("answer")
	s.press("enter", "<")
	s.MustShow("1 of 1", "that is the newest match")
	s.Journal.UserMessage(tuitest.Ada, "m30", "more?")
	s.Journal.Text("t", "answer 30")
	s.applyJournal()
	s.Session.ReplyToSearch(tuitest.NoHistory, []protocol.Hit{
		tuitest.Hit("m30", 2+6*30, 4+6*30, protocol.HitText, "t"),
		tuitest.Hit("m29", 2+6*29, 4+6*29, protocol.HitText, "t"),
	})
	s.press("<")
	s.MustShow("1 of 2", "▌▏ answer 30")
}

func TestSearchLoadsRestOfTurn(t *testing.T) {
	s := openAtEnd(t, 600)
	long := tuitest.FinishedTurns(0, 1)
	s.Session.ReplyToSearch(func(d protocol.HistoryData) protocol.HistoryResult {
		if d.Before == 601 {
			return protocol.HistoryResult{Epoch: "k3f9ab", First: 4, Last: 6, More: true, Events: long.Events[3:]}
		}
		return protocol.HistoryResult{Epoch: "k3f9ab", First: 1, Last: 3, Events: long.Events[:3]}
	}, []protocol.Hit{tuitest.Hit("m0", 1, 3, protocol.HitText, "t")})
	s.applyJournal()
	s.MustShow("question 0", "answer 0", "completed")
	s.press("ctrl+f")
	s.typeText("answer")
	s.press("enter")
	s.MustShow("1 of 1", "▌▏ answer 0")
}

func TestSearchLoadsPartOfText(t *testing.T) {
	s := openAtEnd(t, 600)
	past := &tuitest.Journal{At: tuitest.Start}
	past.UserMessage(tuitest.Ada, "m0", "question 0") // two events
	past.Text("t", "the needle\n\n", strings.Repeat("- hay\n", 40))
	past.Add(protocol.TextEnd, protocol.PartEndData{Part: "t"})
	past.EndTurn(protocol.ReasonCompleted)
	var events []json.RawMessage
	for _, u := range past.Take() {
		events = append(events, protocol.MustEncode(u.Event))
	}
	cut := len(events) - 3 // the second page starts with the hay
	s.Session.ReplyToSearch(func(d protocol.HistoryData) protocol.HistoryResult {
		if d.Before == 601 {
			return protocol.HistoryResult{
				Epoch:  "k3f9ab",
				First:  uint64(cut + 1),
				Last:   uint64(len(events)),
				More:   true,
				Events: events[cut:],
			}
		}
		return protocol.HistoryResult{Epoch: "k3f9ab", First: 1, Last: uint64(cut), Events: events[:cut]}
	}, []protocol.Hit{tuitest.Hit("m0", 1, 3, protocol.HitText, "t")})
	s.applyJournal()
	s.press("ctrl+f")
	s.typeText("needle")
	s.press("enter")
	s.MustShow("1 of 1", "▌▏ the needle")
}

func TestSearchAllLinesOfItem(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "a needle to begin with")
	lines := make([]string, 90)
	for i := range lines {
		lines[i] = fmt.Sprintf("- line %d", i)
	}
	lines[10], lines[40], lines[80] = "- needle ten, needle", "- needle forty", "- needle eighty"
	j.Text("t", strings.Join(lines, "\n"))
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	s := open(t, j, 80, 20)
	s.Session.Reply = func(tuitest.Command) (any, error) {
		return protocol.SearchResult{Hits: []protocol.Hit{
			{Turn: "turn-m1", First: 2, Seq: 4, Kind: protocol.HitText, Item: "t", Count: 4},
			{Turn: "turn-m1", First: 2, Seq: 2, Kind: protocol.HitUser},
		}}, nil
	}
	s.press("ctrl+f")
	s.typeText("needle")
	s.press("enter")
	s.MustShow("needle eighty", "1 of 5")
	for _, way := range []struct{ key, want, places string }{
		{">", "needle forty", "2 of 5"},
		{">", "needle ten", "3 of 5"},
		{">", "a needle to begin with", "5 of 5"},
		{"<", "needle ten", "3 of 5"},
		{"<", "needle forty", "2 of 5"},
		{"<", "needle eighty", "1 of 5"},
	} {
		s.press(way.key)
		s.MustShow(way.want, way.places)
	}
}

// outputSession is a session with one completed tool call.
func outputSession(output string) *tuitest.Journal {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "run it")
	j.Tool("c1", protocol.ToolStartedData{Name: "shell", Title: "seq"}, output)
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: "c1", Status: protocol.ToolCompleted})
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	return j
}

func TestSearchShowsTheHitInsideOfAResult(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "run it")
	j.Tool("c1", protocol.ToolStartedData{Name: "shell", Title: "seq"}, "")
	j.Add(protocol.ToolEnded, protocol.ToolEndedData{
		Tool: "c1", Status: protocol.ToolCompleted, Output: protocol.MustEncode(b.String()),
	})
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.press("ctrl+f")
	s.typeText("line 2500")
	s.stopTyping()
	s.MustShow("▌  line 2500")
	s.press("enter") // the focus moves nothing
	s.MustShow("▌  line 2500")
}

func TestSearchShowsTheHitInsideOfAnOutput(t *testing.T) {
	output := func(lines int, row func(i int) string) string {
		var b strings.Builder
		for i := range lines {
			b.WriteString(row(i) + "\n")
		}
		return b.String()
	}
	line := func(i int) string { return fmt.Sprint("line ", i) }
	long := func(i int) string { return fmt.Sprint("line ", i, " ", strings.Repeat("x", 60)) }
	for _, tt := range []struct {
		name, output, text string
		hits               []string // by n
	}{
		{"folded", output(30, line), "line 15", []string{"line 15"}},
		{"ends match too", output(30, line), `"ine 2"`, []string{"line 29", "line 28", "line 27"}},
		{"longer than an expanded call", output(5000, line), "line 2500", []string{"line 2500"}},
		{
			"longer than what is laid out", output(20000, long), `"7500 x"`,
			[]string{"line 17500 x", "line 7500 x"},
		},
	} {
		for _, width := range []int{40, 80, 200} {
			t.Run(fmt.Sprint(tt.name, width), func(t *testing.T) {
				s := open(t, outputSession(tt.output), width, 24)
				s.press("ctrl+f")
				s.typeText(tt.text)
				s.press("enter") // two keys
				for i, hit := range tt.hits {
					if i > 0 {
						s.press(">")
					}
					s.MustShow("▌  " + hit)
				}
				for i := len(tt.hits) - 2; i >= 0; i-- {
					s.press("<")
					s.MustShow("▌  " + tt.hits[i])
				}
			})
		}
	}
}
