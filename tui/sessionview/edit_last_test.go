package sessionview

import (
	"testing"
	"time"

	"agentctl/internal/tuitest"
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
