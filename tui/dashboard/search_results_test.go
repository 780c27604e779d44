package dashboard

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

// searchHit returns a hit in a turn of a session that holds the events of tuitest.LongSession.
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
	d.server.OnSearch = func(d protocol.SearchData) (protocol.SearchResult, error) {
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
	d.press("ctrl+f")
	d.typeText("race")
	d.press("enter")
}

func TestDashboardSearchWithoutMatches(t *testing.T) {
	d := newTestDashboard(t, 80, 20, tuitest.Summaries()...)
	d.setHits()
	d.press("ctrl+f")
	if d.d.View().Cursor == nil {
		t.Error("no cursor in the search field")
	}
	d.send(tea.PasteMsg{Content: "no\nwhere"})
	d.press("enter")
	d.want("“no where” · no matches")
	d.server.OnSearch = nil
	d.press("/", "enter")
	d.want("it cannot search")
	d.press("/", "esc", "esc")
	d.want("sessions 5")
}

func TestDashboardSearchIgnoresStaleResults(t *testing.T) {
	d := newTestDashboard(t, 80, 20, tuitest.Summaries()...)
	d.setHits(searchHit("s2", 7, protocol.HitText, "t", "race"))
	d.press("ctrl+f")
	d.typeText("race")
	cmd, _ := d.d.Update(tuitest.KeyPress("enter"))
	d.press("esc")
	d.run(cmd)
	d.want("sessions 5")
	d.wantNo("race")
}

func TestDashboardSearchLoadsPagesOnDemand(t *testing.T) {
	d := newTestDashboard(t, 80, 20, tuitest.Summaries()...)
	requests := 0
	d.server.OnSearch = func(protocol.SearchData) (protocol.SearchResult, error) {
		requests++
		var page protocol.SearchResult
		for i := range remote.HitsPerPage {
			page.Hits = append(page.Hits, searchHit("s2", requests*remote.HitsPerPage+i, protocol.HitText, "t", "race"))
		}
		page.Cursor = "more"
		return page, nil
	}
	d.press("ctrl+f")
	d.typeText("race")
	d.press("enter")
	if requests != 1 {
		t.Fatalf("got %d requests for the first screen, want 1", requests)
	}
	d.press("end")
	d.want(fmt.Sprintf("%d of %d+ matches", remote.HitsPerPage, 2*remote.HitsPerPage))
	if requests != 2 {
		t.Errorf("got %d requests at the end of the list, want 2", requests)
	}
}

func TestSearchResultsFitAllSizes(t *testing.T) {
	for _, width := range []int{1, 2, 5, 12, 39, 61, 120} {
		for _, height := range []int{1, 2, 3, 9, 10, 24} {
			d := newTestDashboard(t, width, height, tuitest.Summaries()...)
			searchRace(d)
			for _, key := range []string{"down", "pgdown", "/", "esc", "up", "?"} {
				d.press(key)
				view := d.d.View()
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
