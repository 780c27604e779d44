package sessionview

import (
	"testing"

	"agentctl/internal/dev/tuitest"
)

func TestEarlierMessagesAreSearchedNewestFirst(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24) // has a message of ada and one of bob
	for _, text := range []string{"fix the parser", "add a test", "fix the printer"} {
		s.sendMessage(text)
	}
	s.mustSendAll(3)
	s.typeText("draft")
	s.press("ctrl+r")
	s.typeText("fix")
	s.mustShow("earlier messages · 1 of 3 · ctrl+r older · enter takes it · esc back", " ▸ fix the printer",
		" find: fix", "> draft")
	s.press("ctrl+r")
	s.mustShow("2 of 3", " ▸ fix the parser")
	s.press("ctrl+r")
	s.mustShow("3 of 3", " ▸ The test in pkg/store fails")
	s.press("ctrl+r")
	s.mustShow("no earlier message", "3 of 3")
	s.press("down", "enter")
	s.mustCompose("fix the parser")
	s.mustSendNothing()
	s.press("ctrl+p")
	s.mustCompose("draft") // it is kept
}

func TestTheSearchOfMessagesStartsWithAll(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.sendMessage("fix the parser")
	s.mustSendAll(1)
	s.press("ctrl+r")
	s.mustShow("earlier messages · 1 of 2", " ▸ fix the parser", "The test in pkg/store fails")
	s.typeText(" ")
	s.mustShow("earlier messages · 1 of 2")
}

func TestEscInTheSearchOfMessagesKeepsTheDraft(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.sendMessage("fix the parser")
	s.mustSendAll(1)
	s.typeText("draft")
	s.press("ctrl+r")
	s.typeText("zzz")
	s.mustShow("earlier messages · no match")
	s.press("enter") // nothing to take
	s.press("esc")
	s.mustHide("earlier messages")
	s.mustCompose("draft")
	s.typeText("!")
	s.mustCompose("draft!")
	s.mustSendNothing()
}

func TestTheSearchOfMessagesDoesNotTouchAnEditOfAQueuedMessage(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 100, 30)
	s.press("tab", "e")
	edited := s.m.composer.Text()
	s.press("ctrl+r")
	s.mustShow("a queued message is edited")
	s.mustCompose(edited)
}

// mustSendAll fails unless n commands were sent since the last mustSend.
func (s *testScreen) mustSendAll(n int) {
	s.t.Helper()
	got := s.session.Commands()
	s.session.Mu.Lock()
	s.session.Sent = nil
	s.session.Mu.Unlock()
	if len(got) != n {
		s.t.Fatalf("got commands %v, want %d", got, n)
	}
}
