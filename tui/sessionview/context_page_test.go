package sessionview

import (
	"strings"
	"testing"
	"time"

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
		open: fromJournal(tuitest.GrowingContext, pressing("f6")),
		shows: []string{
			"context · fix-tests · gemini", "░ 82%", "82k of 100k tokens · 31 messages · strategy summary",
			"used 110k tokens in · 700 out · 3k cached · 250 reasoning",
			"cost 0.01234 USD, reported by the agent", "model gemini-2.5",
		},
		status: []string{"X compact", "esc back"},
	},
	{
		name: "context_compact", open: fromJournal(tuitest.GrowingContext, pressing("f6", "X")), heights: contextHeights,
		shows: []string{
			"context · fix-tests · gemini", "░ 82%", "82k of 100k tokens · 31 messages · strategy summary",
			"used 110k tokens in · 700 out · 3k cached · 250 reasoning",
			"cost 0.01234 USD, reported by the agent", "model gemini-2.5",
		},
		status: []string{"X again: the agent keeps a summary and"},
	},
	{
		name: "context_unknown", open: fromJournal(tuitest.NewJournal, openContextWithoutHistory),
		heights: contextHeights,
		shows:   []string{"context · fix-tests · gemini", "This agent does not report its context usage."},
		status:  []string{"X compact", "esc back"},
	},
	{
		name:    "context_status",
		open:    fromJournal(tuitest.GrowingContext, (*testScreen).writeForSixSeconds),
		heights: contextHeights,
		shows:   []string{"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", ">"},
		wide:    []string{"context 82%"},
		status:  []string{"◐ running 52s", "fix-tests", "F1 help"},
	},
}

var contextHeights = [3]int{16, 16, 16}

func TestGoldenContext(t *testing.T) { testGoldenScenes(t, contextScenes) }

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
	s.press("f6", "X")
	s.mustSend(protocol.DoContext)
	s.mustShow("X again")
	s.press("esc")
	s.mustSendNothing()
	s.press("X", "X")
	s.mustSend(protocol.DoCompact)
	s.mustShow("✓ compacted: 82k → 16.4k tokens (80% less)")
	s.journal.Add(protocol.ContextCompacted, protocol.ContextCompactedData{Before: 82_000, After: 16_400, Percent: 80})
	s.applyJournal()
	s.mustShow("░ 16%", "16.4k of 100k tokens")
	s.press("q")
	s.mustShow("context 16%")
}

func TestContextStyle(t *testing.T) {
	l := ui.NewStyles(time.UTC, "")
	for percent, want := range map[float64]*ui.Style{
		0: &l.Dim, 69.9: &l.Dim, 70: &l.Warning, 89.9: &l.Warning, 90: &l.Error, 120: &l.Error,
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
