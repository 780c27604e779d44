package sessionview

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/ui"
)

// streamText adds text of the agent at a rate of bytes a second.
func (s *testScreen) streamText(bytes, seconds int) {
	for range seconds {
		s.journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t", Text: strings.Repeat("x", bytes)})
		s.applyJournal()
		s.now = s.now.Add(time.Second)
	}
}

var contextScenes = []goldenScene{
	{
		name: "context_full", heights: contextHeights,
		open: fromJournal(tuitest.GrowingContext, replyContextHistory, (*testScreen).writeForSixSeconds, pressing("f6")),
		shows: []string{
			"context · fix-tests · gemini", "░ 82%", "82k of 100k tokens · 31 messages · strategy summary",
			"writes ≈60 tokens a second, estimated from its text",
			"used 110k tokens in · 700 out · 3k cached · 250 reasoning",
			"cost 0.01234 USD, reported by the agent", "model gemini-2.5", "by turn · 23 turns · peak 82%",
			"▁▁▁▁▁▁▂▂▂▂▂▂▃▃▃▃▃▃▄▁▅▇",
		},
		status: []string{"c compacts", "esc back"},
	},
	{
		name: "context_compact", open: fromJournal(tuitest.GrowingContext, pressing("f6", "c")), heights: contextHeights,
		shows: []string{
			"context · fix-tests · gemini", "░ 82%", "82k of 100k tokens · 31 messages · strategy summary",
			"used 110k tokens in · 700 out · 3k cached · 250 reasoning",
			"cost 0.01234 USD, reported by the agent", "model gemini-2.5", "by turn · 3 turns · peak 82%", "▁▅▇",
			"last compaction: 55k → 20k tokens (64% less), automatic",
		},
		status: []string{"c again: the agent keeps a summary and"},
	},
	{
		name: "context_unknown", open: fromJournal(tuitest.NewJournal, openContextWithoutHistory),
		heights: contextHeights,
		shows:   []string{"context · fix-tests · gemini", "This agent does not report its context usage."},
		status:  []string{"c compacts", "esc back"},
	},
	{
		name:    "context_status",
		open:    fromJournal(tuitest.GrowingContext, (*testScreen).writeForSixSeconds),
		heights: contextHeights,
		shows:   []string{"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", ">"},
		wide:    []string{"░ 82%"},
		status:  []string{"◐ running 52s", "fix-tests", "F1 help"},
	},
}

var contextHeights = [3]int{16, 16, 16}

func TestGoldenContext(t *testing.T) { testGoldenScenes(t, contextScenes) }

// replyContextHistory makes the session return a history of twenty turns of growing context.
func replyContextHistory(s *testScreen) {
	s.session.Reply = func(c tuitest.Command) (any, error) {
		var page protocol.HistoryResult
		if c.Verb != protocol.DoHistory {
			return nil, nil
		}
		for i := range 20 {
			turn := fmt.Sprint("old-", i)
			started := &protocol.Event{Seq: 1, Turn: turn, Type: protocol.TurnStarted, Data: []byte(`{}`)}
			data := protocol.MustEncode(protocol.ContextInfo{Tokens: int64(2000 * i), MaxTokens: 100_000})
			updated := &protocol.Event{Seq: 2, Turn: turn, Type: protocol.ContextUpdated, Data: data}
			page.Events = append(page.Events, started.AppendJSON(nil), updated.AppendJSON(nil))
		}
		return page, nil
	}
}

// openContextWithoutHistory opens the context page of a session that refuses every command.
func openContextWithoutHistory(s *testScreen) {
	s.refuse(&protocol.Error{Code: protocol.CodeUnsupported, Message: "no"})
	s.press("f6")
}

func (s *testScreen) writeForSixSeconds() { s.streamText(240, 6) }

func TestCompactAsksTwice(t *testing.T) {
	s := open(t, tuitest.GrowingContext(), 80, 24)
	s.session.Reply = func(a tuitest.Command) (any, error) {
		if a.Verb == protocol.DoCompact {
			return protocol.CompactResult{
				Compacted: protocol.ContextCompactedData{Before: 82_000, After: 16_400, Percent: 80},
			}, nil
		}
		return protocol.HistoryResult{}, nil
	}
	s.press("f6", "c")
	s.mustSend(protocol.DoContext)
	s.mustShow("c again")
	s.press("esc")
	s.mustSendNothing()
	s.press("c", "c")
	s.mustSend(protocol.DoCompact)
	s.mustShow("✓ compacted: 82k → 16.4k tokens (80% less)")
	s.journal.Add(protocol.ContextCompacted, protocol.ContextCompactedData{Before: 82_000, After: 16_400, Percent: 80})
	s.applyJournal()
	s.mustShow("░ 16%", "16.4k of 100k tokens")
	s.press("q")
	s.mustShow("░ 16%")
}

func TestCompactOnlyOnce(t *testing.T) {
	s := open(t, tuitest.GrowingContext(), 80, 24)
	s.press("f6", "c")
	s.mustSend(protocol.DoContext)
	cmd := s.m.Update(tuitest.KeyPress("c"))
	s.press("c", "c", "c")
	s.mustSendNothing()
	s.run(cmd)
	s.mustSend(protocol.DoCompact)
}

// The page tells what takes the room if the agent does.
func TestContextShowsWhatTakesTheRoom(t *testing.T) {
	s := open(t, tuitest.GrowingContext(), 80, 24)
	s.session.Reply = func(a tuitest.Command) (any, error) {
		if a.Verb == protocol.DoContext {
			return protocol.ContextResult{Parts: []protocol.ContextPart{
				{Name: "tools", Tokens: 1200}, {Name: "tool results\x1b[2J", Tokens: 64_000},
			}}, nil
		}
		return protocol.HistoryResult{}, nil
	}
	s.press("f6")
	s.mustShow("tools ≈1.2k · tool results ≈64k", "of 100k tokens")
}

func TestCompactUnsupported(t *testing.T) {
	for want, err := range map[string]error{
		"This agent cannot compact its context": &protocol.Error{
			Code: protocol.CodeUnsupported, Message: "the agent x cannot compact its context",
		},
		"the line is cut": errors.New("the line is cut"),
	} {
		s := open(t, tuitest.GrowingContext(), 80, 24)
		s.refuse(err)
		s.press("f6", "c", "c")
		s.mustShow(want)
		s.press("f6")
		s.mustHide(want)
	}
}

func TestContextRequestedWithoutEvent(t *testing.T) {
	j := tuitest.NewJournal()
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.session.Reply = func(tuitest.Command) (any, error) {
		return protocol.ContextResult{
			Context: protocol.ContextInfo{Tokens: 5, MaxTokens: 10, Percent: 50},
			Usage:   &protocol.Usage{Input: 7},
		}, nil
	}
	s.press("f6")
	s.mustSend(protocol.DoContext)
	s.mustShow("50%", "used 7 tokens in\n")
	s.mustHide(" out")
	s.mustHide("cost")
}

func TestContextPageLeavesOutWhatIsNotKnown(t *testing.T) {
	j := tuitest.NewJournal()
	j.Add(protocol.ContextCompacted, protocol.ContextCompactedData{})
	j.Add(protocol.ContextUpdated, protocol.ContextInfo{Tokens: 1500})
	j.Add(protocol.UsageUpdated, protocol.Usage{Cost: 2, Currency: "EUR"})
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.press("f6")
	s.mustShow(" 1.5k tokens\n", "cost 2 EUR", "last compaction\n")
	for _, unknown := range []string{"0%", "used", "→"} {
		s.mustHide(unknown)
	}
}

func TestContextPageSizes(t *testing.T) {
	s := open(t, tuitest.GrowingContext(), 80, 24)
	s.streamText(100, 4)
	s.press("f6", "c")
	for width := 1; width < 90; width += 4 {
		for _, height := range []int{1, 2, 3, 7, 30} {
			lines, _ := s.m.overlays.Top().View(width, height)
			if len(lines) > height {
				t.Fatalf("got %d rows at %dx%d", len(lines), width, height)
			}
			for _, line := range lines {
				if ansi.StringWidth(line) > width {
					t.Fatalf("line %q is too wide at %dx%d", line, width, height)
				}
			}
		}
	}
}

func TestContextStyle(t *testing.T) {
	l := ui.NewStyles(time.UTC, "")
	for percent, want := range map[float64]*lipgloss.Style{
		0: &l.Success, 74.9: &l.Success, 75: &l.Warning, 89.9: &l.Warning, 90: &l.Error, 120: &l.Error,
	} {
		if l.ContextStyle(percent) != want {
			t.Errorf("wrong style for %v%%", percent)
		}
	}
}

func TestPercent(t *testing.T) {
	for percent, want := range map[float64]string{0: "0%", 0.01: "<1%", 0.6: "1%", 99.4: "99%", 100: "100%"} {
		if got := format.Percent(percent); got != want {
			t.Errorf("Percent(%v) = %s, want %s", percent, got, want)
		}
	}
}
