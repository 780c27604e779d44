package input

import (
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// openIdle returns a screen of a session without a turn whose last message of ada is text.
func openIdle(t *testing.T, text string) *rig {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", text)
	j.Text("p1", "answer")
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	return open(t, j, 80)
}

func TestEscTwiceWhenIdleTakesTheLastMessage(t *testing.T) {
	for _, keys := range [][]string{{"esc", "esc"}, {"alt+esc"}} {
		s := openIdle(t, "fix the parser")
		s.keys(keys...)
		s.mustCompose("fix the parser")
		s.MustShow("your last message: enter sends it as a new one")
		s.MustSendNothing()
		s.keys("esc")
		s.mustCompose("")
	}
}

// openForking is openIdle with an agent that can fork.
func openForking(t *testing.T, text string) *rig {
	s := openIdle(t, text)
	s.in.Sessions = true
	s.Journal.Add(protocol.AgentOptions, protocol.Options{Features: []string{protocol.FeatureFork}})
	s.ApplyJournal()
	return s
}

func TestEscTwiceAsksWhetherToFork(t *testing.T) {
	s := openForking(t, "fix the parser")
	s.keys("esc", "esc")
	s.MustShow("edit your last message here, or in a fork that ends before it?", "   Cancel", " ▸ Edit here", "   Fork")
	s.keys("enter")
	s.mustCompose("fix the parser")
	s.MustSendNothing()

	s = openForking(t, "fix the parser")
	s.keys("esc", "esc", "esc")
	s.mustCompose("")
	s.keys("esc", "esc")
	s.Session.Reply = func(tuitest.Command) (any, error) { return protocol.CreateResult{Session: "k2"}, nil }
	s.keys("right", "enter")
	want := tuitest.Command{Verb: protocol.DoFork, Data: protocol.ForkData{Turn: "turn-m1", Before: true}}
	if got := s.TakeCommands(); len(got) != 1 || got[0] != want {
		t.Errorf("got commands %+v, want %+v", got, want)
	}
	if want := (ForkedIntent{Session: "k2", Text: "fix the parser"}); s.forked != want {
		t.Errorf("got intent %+v, want %+v", s.forked, want)
	}
	s.mustCompose("")
}

func TestEscTwiceDoesNotForkWhereItCannot(t *testing.T) {
	for name, change := range map[string]func(*rig){
		"without a list of sessions": func(s *rig) { s.in.Sessions = false },
		"before the message has a turn": func(s *rig) {
			s.Session.Reply = func(tuitest.Command) (any, error) {
				return protocol.SendResult{Status: protocol.SendQueued, MessageID: "m9"}, nil
			}
			s.typeText("fix the parser")
			s.keys("enter")
		},
	} {
		s := openForking(t, "fix the parser")
		change(s)
		s.keys("esc", "esc")
		s.MustHide("in a fork")
		if s.mustCompose("fix the parser"); t.Failed() {
			t.Fatal(name)
		}
	}
}

func TestAForkThatFailsIsReported(t *testing.T) {
	s := openForking(t, "fix the parser")
	s.Refuse(tuitest.ErrRefused)
	s.keys("esc", "esc", "right", "enter")
	s.MustShow("observers may not do that")
}

func TestEscTwiceSkipsDraftsThatWereCleared(t *testing.T) {
	s := openIdle(t, "fix\tthe parser")
	s.typeText("a draft")
	s.keys("ctrl+c", "esc", "esc")
	s.mustCompose("fix    the parser")
}

func TestEscTwiceNeedsAnIdleSessionAndAnEmptyComposer(t *testing.T) {
	s := openIdle(t, "fix the parser")
	s.keys("esc")
	s.Time = s.Time.Add(500*time.Millisecond + time.Millisecond)
	s.keys("esc") // too late
	s.mustCompose("")
	s.keys("left", "esc") // a key between
	s.mustCompose("")
	s.keys("left")
	s.typeText("x")
	s.keys("esc", "esc")
	s.mustCompose("x")
}

func TestEscTwiceWhileATurnRunsInterruptsOnce(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80)
	s.keys("alt+esc")
	s.MustSend(protocol.DoInterrupt)
	s.keys("esc", "esc")
	s.mustCompose("")
}

func TestTheEscThatInterruptsIsNotTheFirstOfTwo(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80)
	s.keys("esc")
	s.MustSend(protocol.DoInterrupt)
	s.Journal.EndTurn(protocol.ReasonInterrupted)
	s.ApplyJournal()
	s.keys("esc")
	s.mustCompose("")
}
