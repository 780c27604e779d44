package sessionview

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// fillingUp is a session whose context grows, is compacted, and grows; its third turn is under way.
func fillingUp() *tuitest.Journal {
	j := tuitest.NewJournal()
	for i, tokens := range []int64{12_000, 55_000} {
		j.UserMessage(tuitest.Ada, fmt.Sprint("m", i), "on")
		j.Add(protocol.ContextUpdated, protocol.ContextInfo{Tokens: tokens, MaxTokens: 100_000, Percent: float64(tokens) / 1000, TranscriptLength: 10 * (i + 1), Strategy: "summary"})
		j.Add(protocol.UsageUpdated, protocol.Usage{Input: 2 * tokens, Output: 700, Cached: 3000, Reasoning: 250, Cost: 0.01234, Currency: "USD", Model: "gemini-2.5\x1b[2J"})
		j.EndTurn(protocol.ReasonCompleted)
	}
	j.Add(protocol.ContextCompacted, protocol.ContextCompactedData{Before: 55_000, After: 20_000, Percent: 63.6, Automatic: true})
	j.UserMessage(tuitest.Ada, "m9", "and on")
	j.Add(protocol.ContextUpdated, protocol.ContextInfo{Tokens: 82_000, MaxTokens: 100_000, Percent: 82, TranscriptLength: 31, Strategy: "summary"})
	j.Add(protocol.TextStart, protocol.PartStartData{Part: "t"})
	j.CaughtUp()
	return j
}

// writes lets the agent write so many bytes a second.
func (s *screen) writes(bytes, seconds int) {
	for range seconds {
		s.journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t", Text: strings.Repeat("x", bytes)})
		s.tell()
		s.now = s.now.Add(time.Second)
	}
}

func TestGoldenContext(t *testing.T) {
	past := func(s *screen) {
		s.session.Reply = func(a tuitest.Command) (any, error) {
			var page protocol.HistoryResult
			if a.Verb != protocol.DoHistory {
				return nil, nil
			}
			for i := range 20 {
				turn := fmt.Sprint("old-", i)
				for typ, data := range map[protocol.Type]any{protocol.ContextUpdated: protocol.ContextInfo{Tokens: int64(2000 * i), MaxTokens: 100_000}} {
					page.Events = append(page.Events,
						(&protocol.Event{Seq: 1, Turn: turn, Type: protocol.TurnStarted, Data: []byte(`{}`)}).AppendJSON(nil),
						(&protocol.Event{Seq: 2, Turn: turn, Type: typ, Data: protocol.MustEncode(data)}).AppendJSON(nil))
				}
			}
			return page, nil
		}
	}
	for name, c := range map[string]struct {
		scene   func() *tuitest.Journal
		prepare func(*screen)
	}{
		"full":   {fillingUp, func(s *screen) { past(s); s.writes(240, 6); s.press("f6") }},
		"asking": {fillingUp, func(s *screen) { s.press("f6", "c") }},
		"unknown": {tuitest.NewJournal, func(s *screen) {
			s.refuse(&protocol.Error{Code: protocol.CodeUnsupported, Message: "no"})
			s.press("f6")
		}},
		"status": {fillingUp, func(s *screen) { s.writes(240, 6) }},
	} {
		for _, size := range []struct{ width, height int }{{40, 16}, {80, 16}, {200, 16}} {
			t.Run(fmt.Sprintf("context_%s_%d", name, size.width), func(t *testing.T) {
				s := open(t, c.scene(), size.width, size.height)
				c.prepare(s)
				for line := range strings.Lines(s.text()) {
					if n := ansi.StringWidth(strings.TrimSuffix(line, "\n")); n > size.width {
						t.Errorf("a line of %d cells: %q", n, line)
					}
				}
				tuitest.Golden(t, s.text())
			})
		}
	}
}

func TestTheContextIsMadeSmallerWhenThePersonSaysSoTwice(t *testing.T) {
	s := open(t, fillingUp(), 80, 24)
	s.session.Reply = func(a tuitest.Command) (any, error) {
		if a.Verb == protocol.DoCompact {
			return protocol.CompactResult{Compacted: protocol.ContextCompactedData{Before: 82_000, After: 16_400, Percent: 80}}, nil
		}
		return protocol.HistoryResult{}, nil
	}
	s.press("f6", "c")
	s.shows("c again")
	s.press("esc")
	s.askedNothing()
	s.press("c", "c")
	s.asked(protocol.DoCompact)
	s.shows("✓ compacted: 82.0k → 16.4k tokens (80% less)")
	s.journal.Add(protocol.ContextCompacted, protocol.ContextCompactedData{Before: 82_000, After: 16_400, Percent: 80})
	s.tell()
	s.shows("░ 16%", "16.4k of 100.0k tokens")
	s.press("q")
	s.shows("░ 16%")
}

func TestACompactionUnderWayIsNotAskedForAgain(t *testing.T) {
	s := open(t, fillingUp(), 80, 24)
	s.press("f6", "c")
	cmd := s.m.Update(tuitest.KeyPress("c"))
	s.press("c", "c", "c")
	s.askedNothing()
	s.run(cmd)
	s.asked(protocol.DoCompact)
}

func TestTheContextOfAFreshSnapshotIsItsOwn(t *testing.T) {
	s := open(t, fillingUp(), 80, 24)
	s.press("f6", "q")
	if len(s.m.usage.tracker.Turns()) == 0 {
		t.Fatal("nothing is metered: this test proves nothing")
	}
	s.journal.Pending = append(s.journal.Pending, remote.Update{Attached: &protocol.SubscribeResult{
		Mode: protocol.ModeSnapshot, After: protocol.Position{Epoch: "k3f9ab", Seq: 90},
		Snapshot: &protocol.Snapshot{Epoch: "k3f9ab", State: &protocol.State{Session: "s1", Seq: 90, Turns: 3}},
	}})
	s.journal.CaughtUp()
	s.tell()
	if n := len(s.m.usage.tracker.Turns()); n != 0 {
		t.Errorf("%d turns of before are told", n)
	}
	s.session.Sent = nil
	s.press("f6")
	asked := 0
	for _, a := range s.session.Sent {
		if d, ok := a.Data.(protocol.HistoryData); ok && d.Limit == usageTurns {
			asked++
		}
	}
	if asked != 1 {
		t.Errorf("what was before it was asked for %d times", asked)
	}
}

func TestAnAgentThatCannotCompactSaysSoKindly(t *testing.T) {
	for want, err := range map[string]error{
		"This agent cannot compact its context": &protocol.Error{Code: protocol.CodeUnsupported, Message: "the agent x cannot compact its context"},
		"the line is cut":                       errors.New("the line is cut"),
	} {
		s := open(t, fillingUp(), 80, 24)
		s.refuse(err)
		s.press("f6", "c", "c")
		s.shows(want)
		s.press("f6")
		s.hides(want)
	}
}

func TestAContextThatNoEventToldIsAskedFor(t *testing.T) {
	j := tuitest.NewJournal()
	j.CaughtUp()
	s := open(t, j, 80, 24)
	s.session.Reply = func(tuitest.Command) (any, error) {
		return protocol.ContextResult{Context: protocol.ContextInfo{Tokens: 5, MaxTokens: 10, Percent: 50}, Usage: &protocol.Usage{Input: 7}}, nil
	}
	s.press("f6")
	s.asked(protocol.DoContext)
	s.shows("50%", "used 7 tokens in · 0 out")
	s.hides("cost")
}

func TestThePastOfALogIsAskedForOnce(t *testing.T) {
	s := open(t, fillingUp(), 80, 24)
	s.press("f6", "q", "f6")
	n := 0
	for _, a := range s.session.Sent {
		if d, ok := a.Data.(protocol.HistoryData); ok && d.Limit == usageTurns {
			n++
		}
	}
	if n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestTheContextPageFitsEverySize(t *testing.T) {
	s := open(t, fillingUp(), 80, 24)
	s.writes(100, 4)
	s.press("f6", "c")
	for width := 1; width < 90; width += 4 {
		for _, height := range []int{1, 2, 3, 7, 30} {
			lines, _ := s.m.overlays.Top().View(width, height)
			if len(lines) > height {
				t.Fatalf("%d rows at %dx%d", len(lines), width, height)
			}
			for _, line := range lines {
				if ansi.StringWidth(line) > width {
					t.Fatalf("line %q at %dx%d", line, width, height)
				}
			}
		}
	}
}

func TestAContextThatFillsUpIsSeenToDoSo(t *testing.T) {
	l := ui.NewStyles(time.UTC, "")
	for percent, want := range map[float64]*lipgloss.Style{0: &l.Success, 74.9: &l.Success, 75: &l.Warning, 89.9: &l.Warning, 90: &l.Error, 120: &l.Error} {
		if l.ContextStyle(percent) != want {
			t.Errorf("%v%% is dressed as another number", percent)
		}
	}
}

func TestAFewTokensAreNotNothing(t *testing.T) {
	for percent, want := range map[float64]string{0: "0%", 0.01: "<1%", 0.6: "1%", 99.4: "99%", 100: "100%"} {
		if got := ui.Percent(percent); got != want {
			t.Errorf("%v%% shows as %s, want %s", percent, got, want)
		}
	}
}
