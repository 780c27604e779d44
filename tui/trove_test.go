package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/task"
)

// treasure is a hit in a turn of a session whose turns are those of long.
func treasure(session string, turn int, kind protocol.HitKind, item, snippet string) protocol.Hit {
	return protocol.Hit{
		Session: session, Turn: fmt.Sprint("turn-m", turn), First: uint64(2 + 6*turn), Seq: uint64(2 + 6*turn), Kind: kind, Item: item,
		Time: tuitest.Start, Snippet: snippet, Count: 1,
	}
}

// buries makes the fleet one in which words are in a few matches.
func (b *table) buries(hits ...protocol.Hit) {
	b.port.search = func(d protocol.SearchData) (protocol.SearchResult, error) {
		if d.Cursor == "" && len(hits) > 2 {
			return protocol.SearchResult{Hits: hits[:2], Cursor: "2"}, nil
		}
		if d.Cursor == "2" {
			return protocol.SearchResult{Hits: hits[2:], Skipped: []string{"s9"}}, nil
		}
		return protocol.SearchResult{Hits: hits}, nil
	}
}

func buried(b *table) {
	b.buries(
		treasure("s2", 7, protocol.HitText, "t", "the answer 7 is a race: 漢字 "+strings.Repeat("long ", 40)+"race"),
		treasure("s3", 3, protocol.HitTool, "c1", "WARNING: DATA RACE\x1b[2J"),
		treasure("gone", 1, protocol.HitUser, "", "is there a race?"),
	)
	b.press("f")
	b.write("race")
	b.press("enter")
}

func TestAHitOpensItsSessionWhereTheWordsAre(t *testing.T) {
	b := newTable(t, 80, 20, fleetOfFive()...)
	b.port.script = func(string) *tuitest.Journal { return &tuitest.Journal{At: tuitest.Start} } // it is told later
	buried(b)
	b.shows("fix-tests", "1 of 3 matches", "1 session cannot be read")
	b.port.reply = func(_ string, a tuitest.Command) (any, error) {
		if d, ok := a.Data.(protocol.SearchData); ok && d.Cursor == "" {
			return protocol.SearchResult{Hits: []protocol.Hit{treasure("s2", 20, protocol.HitText, "t", "")}, Cursor: "1"}, nil
		} else if ok {
			return protocol.SearchResult{Hits: []protocol.Hit{treasure("s2", 7, protocol.HitText, "t", ""), treasure("s2", 2, protocol.HitText, "t", "")}}, nil
		}
		return protocol.HistoryResult{}, nil
	}
	b.press("enter")
	o := b.p.sessions.shown
	if o == nil || o.id != "s2" {
		t.Fatal("the session is not on the screen")
	}
	b.give(task.Message{To: o, Msg: remote.Updates(tuitest.LongSession(30).Take())}) // and then it is there
	b.shows("2 of 3", "▌  answer 7", "find: race")
	b.press("n")
	b.shows("3 of 3", "▌  answer 2")
	b.press("f2") // what was found is still there
	b.shows("search in all sessions · “race” · 1 of 3 matches")
	b.press("esc")
	b.hides("search in all sessions")
}

func TestASearchOfAllSessionsThatFindsNothingSaysSo(t *testing.T) {
	b := newTable(t, 80, 20, fleetOfFive()...)
	b.buries()
	b.press("ctrl+f")
	if b.p.View().Cursor == nil {
		t.Error("no cursor where the words are written")
	}
	b.give(tea.PasteMsg{Content: "no\nwhere"})
	b.press("enter")
	b.shows("“no where” · no matches")
	b.port.search = nil
	b.press("/", "enter")
	b.shows("it cannot search")
	b.press("/", "esc", "esc")
	b.shows("sessions · 5")
}

func TestOldAnswersOfASearchAreNotTaken(t *testing.T) {
	b := newTable(t, 80, 20, fleetOfFive()...)
	b.buries(treasure("s2", 7, protocol.HitText, "t", "race"))
	b.press("f")
	b.write("race")
	_, cmd := b.p.Update(tuitest.KeyPress("enter"))
	b.press("esc")
	b.run(cmd)
	b.shows("sessions · 5")
	b.hides("race")
}

func TestAThousandHitsAreAskedForAsTheyAreWanted(t *testing.T) {
	b := newTable(t, 80, 20, fleetOfFive()...)
	asked := 0
	b.port.search = func(protocol.SearchData) (protocol.SearchResult, error) {
		asked++
		var page protocol.SearchResult
		for i := range remote.HitsPerPage {
			page.Hits = append(page.Hits, treasure("s2", asked*remote.HitsPerPage+i, protocol.HitText, "t", "race"))
		}
		page.Cursor = "more"
		return page, nil
	}
	b.press("f")
	b.write("race")
	b.press("enter")
	if asked != 1 {
		t.Fatalf("asked %d times for the first screen", asked)
	}
	b.press("end")
	b.shows(fmt.Sprintf("%d of %d+ matches", remote.HitsPerPage, 2*remote.HitsPerPage))
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
}

func TestTheTroveFitsEverySize(t *testing.T) {
	for _, width := range []int{1, 2, 5, 12, 39, 61, 120} {
		for _, height := range []int{1, 2, 3, 9, 10, 24} {
			b := newTable(t, width, height, fleetOfFive()...)
			buried(b)
			for _, key := range []string{"down", "pgdown", "/", "esc", "up", "?"} {
				b.press(key)
				view := b.p.View()
				if n := strings.Count(view.Content, "\n") + 1; n > height {
					t.Fatalf("%dx%d after %s: %d rows", width, height, key, n)
				}
				for line := range strings.Lines(view.Content) {
					if n := ansi.StringWidth(line); n > width || strings.Contains(ansi.Strip(line), "\x1b") {
						t.Fatalf("%dx%d after %s: %d cells: %q", width, height, key, n, line)
					}
				}
				if c := view.Cursor; c != nil && (c.X >= width || c.Y >= height) {
					t.Fatalf("%dx%d after %s: cursor at %d,%d", width, height, key, c.X, c.Y)
				}
			}
		}
	}
}
