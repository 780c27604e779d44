package sessionview

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// Esc interrupts only when nothing is open and the end of the transcript is on the screen.
func TestEscClosesThenGoesToTheEndThenInterrupts(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 60, 14)
	s.press("pgup", "shift+tab")
	if s.m.focus != onTranscript {
		t.Fatal("shift+tab does not focus the transcript")
	}
	s.press("esc")
	if s.m.focus != onComposer || s.m.transcript.View.List.Following() {
		t.Fatal("the first esc does more than leave the transcript")
	}
	s.press("esc")
	s.mustSendNothing()
	if !s.m.transcript.View.List.Following() {
		t.Fatal("the second esc does not go to the end")
	}
	s.press("esc")
	s.mustSend(protocol.DoInterrupt)
}

func TestEscInTheMessageClosesTheSearch(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.press("ctrl+f")
	s.typeText("race")
	s.press("enter", "tab")
	s.takeCommands()
	s.mustShow("find: race")
	s.press("esc")
	s.mustHide("find:")
	s.mustSendNothing()
}

func TestTheInterruptKeyWorksEverywhere(t *testing.T) {
	for name, keys := range map[string][]string{
		"message": nil, "help": {"f1"}, "settings": {"f3"}, "palette": {"ctrl+k"}, "transcript": {"shift+tab"},
		"scrolled": {"pgup"}, "search": {"ctrl+f"}, "turns": {"f10"}, "shell": {"!"},
	} {
		s := open(t, tuitest.Scenes["transcript"](), 80, 24)
		s.press(keys...)
		s.takeCommands()
		if s.press("ctrl+x"); len(s.takeCommands()) != 1 {
			t.Errorf("%s: ctrl+x does not interrupt", name)
		}
	}
	s := open(t, tuitest.Scenes["approval"](), 80, 30)
	s.focusApproval()
	s.press("r")
	s.typeText("no")
	s.press("ctrl+x")
	s.mustSend(protocol.DoInterrupt)
}

// openQueued returns a screen with a turn and one queued message of the user.
func openQueued(t *testing.T) *testScreen {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.journal.QueueMessage(tuitest.Ada, "m3", "next")
	s.applyJournal()
	return s
}

func TestTheFocusIsOnAQueuedMessageAfterItsEdit(t *testing.T) {
	for _, ends := range []string{"enter", "esc"} {
		s := openQueued(t)
		s.press("tab", "e")
		s.typeText("!")
		s.press(ends)
		if s.m.focus != onQueue {
			t.Fatalf("%s: the focus is not on the queue", ends)
		}
		s.mustShow("▸ 1 ")
		s.takeCommands()
		s.press("esc")
		if s.mustSendNothing(); s.m.focus != onComposer {
			t.Errorf("after %s: esc does not leave the queue", ends)
		}
	}
}

// Stop, change the queued message, go on: four keys.
func TestStopChangeTheQueuedMessageAndGoOn(t *testing.T) {
	s := openQueued(t)
	s.session.Reply = func(tuitest.Command) (any, error) { return protocol.InterruptResult{Interrupted: true}, nil }
	s.press("esc")
	s.journal.EndTurn(protocol.ReasonInterrupted)
	s.journal.AddBy(tuitest.Ada, protocol.QueueHeld, protocol.Hold{
		ID: "h1", Reason: protocol.HoldInterrupt, By: &tuitest.Ada,
	})
	s.applyJournal()
	s.press("tab", "e")
	s.mustShow("enter saves · esc cancels · alt+r releases too")
	s.typeText("!")
	s.takeCommands()
	s.press("alt+r")
	got := s.takeCommands()
	if len(got) != 2 || got[0].Verb != protocol.DoQueueEdit || got[1].Verb != protocol.DoQueueRelease {
		t.Fatalf("got commands %+v, want the edit, then the release", got)
	}
	if d := got[0].Data.(protocol.QueueEditData); d.Text != "next!" {
		t.Errorf("got text %q", d.Text)
	}
}

// A queue whose edited message is not saved stays held.
func TestARefusedEditReleasesNothing(t *testing.T) {
	s := openQueued(t)
	s.press("tab", "e")
	s.takeCommands()
	s.refuse(tuitest.ErrRefused)
	s.press("alt+r")
	for _, c := range s.takeCommands() {
		if c.Verb == protocol.DoQueueRelease {
			t.Error("the queue is released")
		}
	}
}
