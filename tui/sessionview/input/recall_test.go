package input

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestRecallHistory(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80) // has a message of ada and one of bob
	s.send("first")
	s.send("second")
	s.typeText("draft")
	s.keys("up") // at the first row of the draft
	s.mustCompose("draft")
	for _, want := range []string{
		"second", "first", "The test in pkg/store fails now and then. Find out why and fix it, please.",
	} {
		s.keys("ctrl+p")
		s.mustCompose(want)
	}
	s.keys("ctrl+p")
	s.MustShow("no earlier message")
	s.keys("home", "down", "down") // to the last row, then to the next message
	s.mustCompose("second")
	s.keys("down")
	s.mustCompose("draft")
	s.keys("down", "ctrl+n")
	s.mustCompose("draft")
}

func TestRecallWithArrows(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80)
	s.send("one")
	s.typeText("two")
	s.keys("alt+enter")
	s.send("lines")
	s.keys("up")
	s.mustCompose("two\nlines")
	s.keys("up") // from the last row to the first
	s.mustCompose("two\nlines")
	s.keys("up")
	s.mustCompose("one")
	s.typeText("!")
	s.keys("down", "up", "up")
	s.mustCompose("one!") // the changed message is kept during the recall
	s.keys("enter")
	data := s.Session.Commands()
	if got := data[len(data)-1].Data.(protocol.SendData).Text; got != "one!" {
		t.Errorf("got sent text %q", got)
	}
	s.mustCompose("")
	s.keys("up")
	s.mustCompose("one!")
	s.keys("down")
	s.mustCompose("")
}

func TestRecallEscape(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80)
	s.typeText("draft")
	s.keys("ctrl+p", "esc")
	s.mustCompose("draft")
	s.MustSendNothing()
	s.keys("esc")
	s.MustSend(protocol.DoInterrupt)
}

func TestRecallSentMessageOnce(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80)
	s.Journal.EndTurn(protocol.ReasonCompleted)
	s.ApplyJournal()
	s.send("once")
	s.Journal.UserMessage(tuitest.Ada, "m101", "once")
	s.ApplyJournal()
	s.send("twice")
	s.keys("up")
	s.mustCompose("twice")
	s.keys("up")
	s.mustCompose("once")
	s.keys("up")
	s.mustCompose("The test in pkg/store fails now and then. Find out why and fix it, please.")
}

func TestRecallDraftKeptByQueueEdit(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80)
	s.send("sent before")
	s.typeText("my draft")
	s.keys("ctrl+p")
	s.mustCompose("sent before")
	s.edit()
	s.keys("ctrl+p")
	s.MustShow("a queued message is edited", "> Then write the release notes")
	s.keys("esc")
	s.mustCompose("my draft")
}
