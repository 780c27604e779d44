package sessionview

import (
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// openIdle returns a screen of a session without a turn whose last message of ada is text.
func openIdle(t *testing.T, text string) *testScreen {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", text)
	j.Text("p1", "answer")
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	return open(t, j, 80, 24)
}

func TestEscTwiceWhenIdleTakesTheLastMessage(t *testing.T) {
	for _, keys := range [][]string{{"esc", "esc"}, {"alt+esc"}} {
		s := openIdle(t, "fix the parser")
		s.press(keys...)
		s.mustCompose("fix the parser")
		s.mustShow("your last message: enter sends it as a new one")
		s.mustSendNothing()
		s.press("esc")
		s.mustCompose("")
	}
}

// openForking is openIdle with an agent that can fork.
func openForking(t *testing.T, text string) *testScreen {
	s := openIdle(t, text)
	s.m.Sessions = true
	s.journal.Add(protocol.AgentOptions, protocol.Options{Features: []string{protocol.FeatureFork}})
	s.applyJournal()
	return s
}

func TestEscTwiceAsksWhetherToFork(t *testing.T) {
	s := openForking(t, "fix the parser")
	s.press("esc", "esc")
	s.mustShow("edit your last message here, or in a fork that ends before it?", "Cancel  ▸ Edit here    Fork")
	s.press("enter")
	s.mustCompose("fix the parser")
	s.mustSendNothing()

	s = openForking(t, "fix the parser")
	s.press("esc", "esc", "esc")
	s.mustCompose("")
	s.press("esc", "esc")
	s.session.Reply = func(tuitest.Command) (any, error) { return protocol.CreateResult{Session: "k2"}, nil }
	s.press("right")
	for _, done := range tuitest.Messages(s.m.Update(tuitest.KeyPress("enter"))) {
		s.m.Update(done)
	}
	want := tuitest.Command{Verb: protocol.DoFork, Data: protocol.ForkData{Turn: "turn-m1", Before: true}}
	if got := s.takeCommands(); len(got) != 1 || got[0] != want {
		t.Errorf("got commands %+v, want %+v", got, want)
	}
	if want := (ForkedIntent{"k2", "fix the parser"}); s.m.asked != want {
		t.Errorf("got intent %+v, want %+v", s.m.asked, want)
	}
	s.mustCompose("")
}

func TestEscTwiceDoesNotForkWhereItCannot(t *testing.T) {
	for name, change := range map[string]func(*testScreen){
		"without a list of sessions": func(s *testScreen) { s.m.Sessions = false },
		"before the message has a turn": func(s *testScreen) {
			s.session.Reply = func(tuitest.Command) (any, error) {
				return protocol.SendResult{Status: protocol.SendQueued, MessageID: "m9"}, nil
			}
			s.typeText("fix the parser")
			s.press("enter")
		},
	} {
		s := openForking(t, "fix the parser")
		change(s)
		s.press("esc", "esc")
		s.mustHide("in a fork")
		if s.mustCompose("fix the parser"); t.Failed() {
			t.Fatal(name)
		}
	}
}

func TestAForkThatFailsIsReported(t *testing.T) {
	s := openForking(t, "fix the parser")
	s.refuse(tuitest.ErrRefused)
	s.press("esc", "esc", "right", "enter")
	s.mustShow("observers may not do that")
}

func TestEscTwiceSkipsDraftsThatWereCleared(t *testing.T) {
	s := openIdle(t, "fix\tthe parser")
	s.typeText("a draft")
	s.press("ctrl+c", "esc", "esc")
	s.mustCompose("fix    the parser")
}

func TestEscTwiceNeedsAnIdleSessionAndAnEmptyComposer(t *testing.T) {
	s := openIdle(t, "fix the parser")
	s.press("esc")
	s.now = s.now.Add(escapeInterval + time.Millisecond)
	s.press("esc") // too late
	s.mustCompose("")
	s.press("left", "esc") // a key between
	s.mustCompose("")
	s.press("left")
	s.typeText("x")
	s.press("esc", "esc")
	s.mustCompose("x")
}

func TestEscTwiceWhileATurnRunsInterruptsOnce(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.press("alt+esc")
	s.mustSend(protocol.DoInterrupt)
	s.press("esc", "esc")
	s.mustCompose("")
}

func TestTheEscThatInterruptsIsNotTheFirstOfTwo(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.press("esc")
	s.mustSend(protocol.DoInterrupt)
	s.journal.EndTurn(protocol.ReasonInterrupted)
	s.applyJournal()
	s.press("esc")
	s.mustCompose("")
}
