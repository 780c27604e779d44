package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/task"
)

// searchHit returns a hit in a turn of a session that holds the events of tuitest.Long.
func searchHit(session string, turn int, kind protocol.HitKind, item, snippet string) protocol.Hit {
	return protocol.Hit{
		Session: session,
		Turn:    fmt.Sprint("turn-m", turn),
		First:   uint64(2 + 6*turn),
		Seq:     uint64(2 + 6*turn),
		Kind:    kind,
		Item:    item,
		Time:    tuitest.Start,
		Snippet: snippet,
		Count:   1,
	}
}

// setHits makes the server return hits for every search, in two pages if there are more than two.
func (d *testDashboard) setHits(hits ...protocol.Hit) {
	d.server.search = func(d protocol.SearchData) (protocol.SearchResult, error) {
		if d.Cursor == "" && len(hits) > 2 {
			return protocol.SearchResult{Hits: hits[:2], Cursor: "2"}, nil
		}
		if d.Cursor == "2" {
			return protocol.SearchResult{Hits: hits[2:], Skipped: []string{"s9"}}, nil
		}
		return protocol.SearchResult{Hits: hits}, nil
	}
}

// searchRace searches all sessions for "race", with three hits.
func searchRace(d *testDashboard) {
	d.setHits(
		searchHit("s2", 7, protocol.HitText, "t", "the answer 7 is a race: 漢字 "+strings.Repeat("long ", 40)+"race"),
		searchHit("s3", 3, protocol.HitTool, "c1", "WARNING: DATA RACE\x1b[2J"),
		searchHit("gone", 1, protocol.HitUser, "", "is there a race?"),
	)
	d.press("f")
	d.typeText("race")
	d.press("enter")
}

func TestSearchHitOpensSessionAtMatch(t *testing.T) {
	d := newTestDashboard(t, 80, 20, testSummaries()...)
	// The session starts empty.
	d.server.journal = func(string) *tuitest.Journal { return &tuitest.Journal{At: tuitest.Start} }
	searchRace(d)
	d.wantText("fix-tests", "1 of 3 matches", "1 session cannot be read")
	d.server.reply = func(_ string, a tuitest.Command) (any, error) {
		if d, ok := a.Data.(protocol.SearchData); ok && d.Cursor == "" {
			return protocol.SearchResult{
				Hits:   []protocol.Hit{searchHit("s2", 20, protocol.HitText, "t", "")},
				Cursor: "1",
			}, nil
		} else if ok {
			return protocol.SearchResult{
				Hits: []protocol.Hit{
					searchHit("s2", 7, protocol.HitText, "t", ""),
					searchHit("s2", 2, protocol.HitText, "t", ""),
				},
			}, nil
		}
		return protocol.HistoryResult{}, nil
	}
	d.press("enter")
	o := d.p.sessions.shown
	if o == nil || o.id != "s2" {
		t.Fatal("session s2 is not on the screen")
	}
	d.send(task.Message{To: o, Msg: remote.Updates(tuitest.LongSession(30).Take())})
	d.wantText("2 of 3", "▌▏ answer 7", "find: race")
	d.press("n")
	d.wantText("3 of 3", "▌▏ answer 2")
	d.press("f2") // the results stay
	d.wantText("search in all sessions · “race” · 1 of 3 matches")
	d.press("esc")
	d.wantNoText("search in all sessions")
}

func TestDashboardSearchWithoutMatches(t *testing.T) {
	d := newTestDashboard(t, 80, 20, testSummaries()...)
	d.setHits()
	d.press("ctrl+f")
	if d.p.View().Cursor == nil {
		t.Error("no cursor in the search field")
	}
	d.send(tea.PasteMsg{Content: "no\nwhere"})
	d.press("enter")
	d.wantText("“no where” · no matches")
	d.server.search = nil
	d.press("/", "enter")
	d.wantText("it cannot search")
	d.press("/", "esc", "esc")
	d.wantText("sessions 5")
}

func TestDashboardSearchIgnoresStaleResults(t *testing.T) {
	d := newTestDashboard(t, 80, 20, testSummaries()...)
	d.setHits(searchHit("s2", 7, protocol.HitText, "t", "race"))
	d.press("f")
	d.typeText("race")
	_, cmd := d.p.Update(tuitest.KeyPress("enter"))
	d.press("esc")
	d.run(cmd)
	d.wantText("sessions 5")
	d.wantNoText("race")
}

func TestDashboardSearchLoadsPagesOnDemand(t *testing.T) {
	d := newTestDashboard(t, 80, 20, testSummaries()...)
	requests := 0
	d.server.search = func(protocol.SearchData) (protocol.SearchResult, error) {
		requests++
		var page protocol.SearchResult
		for i := range remote.HitsPerPage {
			page.Hits = append(page.Hits, searchHit("s2", requests*remote.HitsPerPage+i, protocol.HitText, "t", "race"))
		}
		page.Cursor = "more"
		return page, nil
	}
	d.press("f")
	d.typeText("race")
	d.press("enter")
	if requests != 1 {
		t.Fatalf("got %d requests for the first screen, want 1", requests)
	}
	d.press("end")
	d.wantText(fmt.Sprintf("%d of %d+ matches", remote.HitsPerPage, 2*remote.HitsPerPage))
	if requests != 2 {
		t.Errorf("got %d requests at the end of the list, want 2", requests)
	}
}

func TestSearchResultsFitAllSizes(t *testing.T) {
	for _, width := range []int{1, 2, 5, 12, 39, 61, 120} {
		for _, height := range []int{1, 2, 3, 9, 10, 24} {
			d := newTestDashboard(t, width, height, testSummaries()...)
			searchRace(d)
			for _, key := range []string{"down", "pgdown", "/", "esc", "up", "?"} {
				d.press(key)
				view := d.p.View()
				if n := strings.Count(view.Content, "\n") + 1; n > height {
					t.Fatalf("%dx%d after %s: got %d rows", width, height, key, n)
				}
				for line := range strings.Lines(view.Content) {
					if n := ansi.StringWidth(line); n > width || strings.Contains(ansi.Strip(line), "\x1b") {
						t.Fatalf("%dx%d after %s: got a row of %d cells: %q", width, height, key, n, line)
					}
				}
				if c := view.Cursor; c != nil && (c.X >= width || c.Y >= height) {
					t.Fatalf("%dx%d after %s: got cursor %d,%d", width, height, key, c.X, c.Y)
				}
			}
		}
	}
}
