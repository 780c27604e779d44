package input

import (
	"testing"

	"agentctl/internal/dev/tuitest"
)

func TestEarlierMessagesAreSearchedNewestFirst(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80) // has a message of ada and one of bob
	for _, text := range []string{"fix the parser", "add a test", "fix the printer"} {
		s.send(text)
	}
	if n := len(s.TakeCommands()); n != 3 {
		t.Fatalf("got %d commands, want 3", n)
	}
	s.typeText("draft")
	s.keys("ctrl+r")
	s.typeText("fix")
	s.MustShow("earlier messages · 1 of 3 · ctrl+r older · enter takes it · esc back", " ▸ fix the printer",
		" find: fix", "> draft")
	s.keys("ctrl+r")
	s.MustShow("2 of 3", " ▸ fix the parser")
	s.keys("ctrl+r")
	s.MustShow("3 of 3", " ▸ The test in pkg/store fails")
	s.keys("ctrl+r")
	s.MustShow("no earlier message", "3 of 3")
	s.keys("down", "enter")
	s.mustCompose("fix the parser")
	s.MustSendNothing()
	s.keys("ctrl+p")
	s.mustCompose("draft") // it is kept
}

func TestTheSearchOfMessagesStartsWithAll(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80)
	s.send("fix the parser")
	if n := len(s.TakeCommands()); n != 1 {
		t.Fatalf("got %d commands, want 1", n)
	}
	s.keys("ctrl+r")
	s.MustShow("earlier messages · 1 of 2", " ▸ fix the parser", "The test in pkg/store fails")
	s.typeText(" ")
	s.MustShow("earlier messages · 1 of 2")
}

func TestEscInTheSearchOfMessagesKeepsTheDraft(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80)
	s.send("fix the parser")
	if n := len(s.TakeCommands()); n != 1 {
		t.Fatalf("got %d commands, want 1", n)
	}
	s.typeText("draft")
	s.keys("ctrl+r")
	s.typeText("zzz")
	s.MustShow("earlier messages · no match")
	s.keys("enter") // nothing to take
	s.keys("esc")
	s.MustHide("earlier messages")
	s.mustCompose("draft")
	s.typeText("!")
	s.mustCompose("draft!")
	s.MustSendNothing()
}

func TestTheSearchOfMessagesDoesNotTouchAnEditOfAQueuedMessage(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 100)
	s.edit()
	edited := s.in.composer.Text()
	s.keys("ctrl+r")
	s.MustShow("a queued message is edited")
	s.mustCompose(edited)
}
