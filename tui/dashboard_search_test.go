package tui

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/task"
)

// searchHit returns a hit in a turn of a session that holds the events of tuitest.LongSession.
func searchHit(session string, turn int, kind protocol.HitKind, item, snippet string) protocol.Hit {
	return protocol.Hit{
		Session: session,
		Turn:    fmt.Sprint("turn-m", turn),
		First:   uint64(2 + 6*turn),
		Seq:     uint64(4 + 6*turn), // of the text
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

func TestSearchHitOpensSessionAtMatch(t *testing.T) {
	d := newTestDashboard(t, 80, 20, tuitest.Summaries()...)
	// The session starts empty.
	d.server.Journal = func(string) *tuitest.Journal { return &tuitest.Journal{At: tuitest.Start} }
	searchRace(d)
	d.wantText("fix-tests", "1 of 3 matches", "1 session cannot be read")
	d.server.Reply = func(_ string, a tuitest.Command) (any, error) {
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
	d.press(">")
	d.wantText("3 of 3", "▌▏ answer 2")
	d.press("f2") // the results stay
	d.wantText("search in all sessions · “race” · 1 of 3 matches")
	d.press("esc")
	d.wantNoText("search in all sessions")
}
