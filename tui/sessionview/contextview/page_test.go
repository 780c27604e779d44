package contextview

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestCompactOnlyOnce(t *testing.T) {
	s := open(t, tuitest.GrowingContext())
	s.Press("f6", "X")
	s.MustSend(protocol.DoContext)
	cmd := s.Start("X")
	s.Press("X", "X", "X")
	s.MustSendNothing()
	s.Run(cmd)
	s.MustSend(protocol.DoCompact)
}

// The page shows what takes the room if the agent reports it.
func TestContextShowsWhatTakesTheRoom(t *testing.T) {
	s := open(t, tuitest.GrowingContext())
	s.Session.Reply = func(a tuitest.Command) (any, error) {
		if a.Verb == protocol.DoContext {
			return protocol.ContextResult{Parts: []protocol.ContextPart{
				{Name: "tools", Tokens: 1200}, {Name: "tool results\x1b[2J", Tokens: 64_000},
			}}, nil
		}
		return protocol.HistoryResult{}, nil
	}
	s.Press("f6")
	s.MustShow("tools ≈1.2k · tool results ≈64k", "of 100k tokens")
}

func TestCompactUnsupported(t *testing.T) {
	for want, err := range map[string]error{
		"This agent cannot compact its context": &protocol.Error{
			Code: protocol.CodeUnsupported, Message: "the agent x cannot compact its context",
		},
		"the line is cut": errors.New("the line is cut"),
	} {
		s := open(t, tuitest.GrowingContext())
		s.Refuse(err)
		s.Press("f6", "X", "X")
		s.MustShow(want)
		s.Press("f6")
		s.MustHide(want)
	}
}

func TestContextRequestedWithoutEvent(t *testing.T) {
	j := tuitest.NewJournal()
	j.CaughtUp()
	s := open(t, j)
	s.Session.Reply = func(tuitest.Command) (any, error) {
		return protocol.ContextResult{
			Context: protocol.ContextInfo{Tokens: 5, MaxTokens: 10, Percent: 50},
			Usage:   &protocol.Usage{Input: 7},
		}, nil
	}
	s.Press("f6")
	s.MustSend(protocol.DoContext)
	s.MustShow("50%", "used 7 tokens in\n")
	s.MustHide(" out")
	s.MustHide("cost")
}

func TestContextPageLeavesOutWhatIsNotKnown(t *testing.T) {
	j := tuitest.NewJournal()
	j.Add(protocol.ContextUpdated, protocol.ContextInfo{Tokens: 1500})
	j.Add(protocol.UsageUpdated, protocol.Usage{Cost: 2, Currency: "EUR"})
	j.CaughtUp()
	s := open(t, j)
	s.Press("f6")
	s.MustShow(" 1.5k tokens\n", "cost 2 EUR")
	for _, unknown := range []string{"0%", "used", "→"} {
		s.MustHide(unknown)
	}
}

func TestContextPageSizes(t *testing.T) {
	s := open(t, tuitest.GrowingContext())
	for range 4 {
		s.Journal.Add(protocol.TextDelta, protocol.PartDeltaData{Part: "t", Text: strings.Repeat("x", 100)})
		s.ApplyJournal()
		s.Time = s.Time.Add(time.Second)
	}
	s.Press("f6", "X")
	for width := 1; width < 90; width += 4 {
		for _, height := range []int{1, 2, 3, 7, 30} {
			lines, _ := s.Overlays.Top().View(width, height)
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

func TestThePageShowsTheLimitsOfTheAccount(t *testing.T) {
	j := tuitest.GrowingContext()
	resets := tuitest.Start.Add(time.Hour)
	j.Add(protocol.LimitsUpdated, protocol.LimitsData{Windows: []protocol.UsageWindow{
		{Name: "five_hour", Percent: 90, ResetsAt: &resets}, {Name: "seven_day", Percent: 40},
	}})
	s := open(t, j)
	s.Press("f6")
	s.MustShow("5 hours 90%, resets "+resets.UTC().Format("15:04"), "week 40%")
}
