package input

import (
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// editQueued returns an input with a draft in which the first queued message is being edited.
func editQueued(t *testing.T) *rig {
	t.Helper()
	s := open(t, tuitest.Scenes["queue"](), 100)
	s.typeText("a draft")
	s.edit()
	s.Journal.AddBy(tuitest.Ada, protocol.QueueHeld, protocol.Hold{
		ID: "h9", Reason: protocol.HoldEdit, MessageID: "m3", By: &tuitest.Ada,
	})
	s.applyJournal()
	return s
}

func TestQueueEditHolds(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80)
	s.typeText("my draft")
	s.edit()
	if data := s.MustSend(protocol.DoQueueHold).(protocol.QueueHoldData); data.MessageID != "m3" {
		t.Fatalf("got hold of %+v, want m3", data)
	}
	s.MustShow("editing a queued message", "> Then write the release notes")
	s.typeText(" Soon.")
	s.keys("enter")
	data := s.MustSend(protocol.DoQueueEdit).(protocol.QueueEditData)
	if data.MessageID != "m3" || !strings.HasSuffix(data.Text, "tag. Soon.") {
		t.Fatalf("got edit %+v", data)
	}
	s.MustShow("> my draft")
}

func TestQueueEditCancelReleasesHold(t *testing.T) {
	s := editQueued(t)
	s.MustSend(protocol.DoQueueHold)
	s.keys("esc")
	if data := s.MustSend(protocol.DoQueueRelease).(protocol.QueueReleaseData); data.Hold != "h9" {
		t.Errorf("got release %+v, want h9", data)
	}
	s.MustHide("editing")
}

func TestTakeBackDuringEdit(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 100)
	s.Refuse(tuitest.ErrRefused)
	s.typeText("please")
	s.keys("enter")
	s.edit()
	edited := s.in.composer.Value()
	s.keys("alt+t")
	if got := s.in.composer.Value(); got != edited {
		t.Errorf("got edited text %q, want %q", got, edited)
	}
	s.MustShow("restored after this edit")
	s.keys("esc")
	s.MustShow("> please")
}

func TestQueueEditEndsWhenRemoved(t *testing.T) {
	for _, reason := range []string{protocol.RemovedUser, protocol.RemovedStarted, protocol.RemovedCleared} {
		s := editQueued(t)
		s.MustShow("editing a queued message")
		s.Journal.AddBy(tuitest.Bob, protocol.QueueRemoved, protocol.QueueRemovedData{MessageID: "m3", Reason: reason})
		s.applyJournal()
		s.MustShow("the edited message is no longer queued", "> a draft")
		if s.in.composer.Editing != "" {
			t.Errorf("%s: the composer still edits %s", reason, s.in.composer.Editing)
		}
	}
}

func TestTheTextOfAnEditStaysWhenItsMessageIsRemoved(t *testing.T) {
	s := editQueued(t)
	s.typeText(" and more words")
	s.Journal.AddBy(tuitest.Bob, protocol.QueueRemoved, protocol.QueueRemovedData{
		MessageID: "m3", Reason: protocol.RemovedCleared,
	})
	s.applyJournal()
	got := s.in.composer.Text()
	if !strings.HasPrefix(got, "a draft\n\n") || !strings.HasSuffix(got, " and more words") {
		t.Errorf("got the message box %q, want the edited text after the draft", got)
	}
	s.MustShow("your text is in the message box")
}

func TestTheTextOfAnEditStaysWhenTheServerRefusesIt(t *testing.T) {
	s := editQueued(t)
	s.Refuse(tuitest.ErrRefused)
	s.typeText(" and more words")
	s.keys("enter")
	s.MustShow("observers may not do that")
	if got := s.in.composer.Text(); !strings.HasPrefix(got, "a draft") || !strings.HasSuffix(got, " and more words") {
		t.Errorf("got the message box %q, want the edited text after the draft", got)
	}
}
