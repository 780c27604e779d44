package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
)

func TestWordsAreFoundAndShown(t *testing.T) {
	s := open(t, long(300), 60, 20)
	s.press("ctrl+f")
	s.shows("find:")
	s.write("QUESTION 17")
	if s.m.View().Cursor == nil {
		t.Error("no cursor where the words are written")
	}
	s.press("enter")
	s.shows("▌▎ question 179") // the newest of those that begin so
	s.press("n")
	s.shows("▌▎ question 178")
	s.press("N")
	s.shows("▌▎ question 179")
	if !strings.Contains(s.m.View().Content, s.m.look.chosen.Render("question 17")) {
		t.Error("the words are not highlighted")
	}
	s.press("esc")
	if strings.Contains(s.m.View().Content, s.m.look.chosen.Render("question 17")) {
		t.Error("the words are still highlighted")
	}
}

func TestFindingUnfoldsWhatHoldsTheWords(t *testing.T) {
	s := open(t, scenes["transcript"](), 80, 24)
	s.press("ctrl+f")
	s.write("likely a race")
	s.press("enter")
	s.shows("▾ thought", "Likely a race.")
}

func TestFindingPagesOlderTurnsIn(t *testing.T) {
	j := newJournal()
	j.out[1].Attached.After.Seq = 600
	j.out[1].Attached.Snapshot.State.Seq = 600
	j.out = j.out[:2]
	j.caughtUp()
	s := open(t, &journal{at: dawn}, 60, 20)
	s.journal = j
	s.session.reply = func(a asking) (any, error) {
		if d, ok := a.data.(protocol.HistoryData); ok && d.Before == 601 {
			return past(181, 200, true), nil
		} else if ok {
			return past(1, 180, false), nil
		}
		return nil, nil
	}
	s.tell()
	s.press("ctrl+f")
	s.write("question 42")
	s.press("enter")
	s.shows("question 42")
	s.press("ctrl+f")
	s.write("7 and never said")
	s.press("enter")
	s.shows("is not there")
}

func TestFindingTakesABoundedStep(t *testing.T) {
	s := open(t, long(findStep), 60, 20)
	s.press("ctrl+f")
	s.write("question 0")
	_, cmd := s.m.Update(press("enter"))
	if !s.m.finder.busy {
		t.Fatal("it went through all items at once")
	}
	s.shows("find: question 0 …")
	s.run(cmd)
	s.shows("▌▎ question 0")
}

func TestHighlightKeepsTheWidth(t *testing.T) {
	m := &model{look: newLook(nil, ""), finder: finder{query: "漢"}}
	for _, line := range []string{"a 漢字", "\x1b[1mbold 漢\x1b[m字", "none", "İ 漢"} {
		got := m.highlight(line)
		if ansi.Strip(got) != ansi.Strip(line) {
			t.Errorf("highlight(%q) = %q", line, got)
		}
	}
	for s, want := range map[string]int{"ABC": 1, "xabc": 2, "İb": 2, "none": -1} {
		if got := index(s, "b"); got != want {
			t.Errorf("index(%q, b) = %d, want %d", s, got, want)
		}
	}
}
