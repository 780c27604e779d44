package input

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestCtrlCClearsADraftThatUndoAndHistoryBringBack(t *testing.T) {
	for _, back := range []string{"ctrl+z", "up"} {
		s := open(t, tuitest.Scenes["transcript"](), 80)
		s.typeText("two words")
		s.keys("ctrl+c")
		s.mustCompose("")
		s.MustShow("draft cleared · ctrl+z restores it")
		s.mustNotLeave()
		s.keys(back)
		s.mustCompose("two words")
	}
}

func TestCtrlCClearsFilesThatUndoBringsBack(t *testing.T) {
	s, dir := openIn(t, map[string]string{"notes.txt": "text"})
	s.paste(dir + "/notes.txt")
	s.keys("ctrl+c")
	if n := len(s.in.attachments.files); n != 0 {
		t.Fatalf("%d files are left", n)
	}
	s.keys("ctrl+z")
	if n := len(s.in.attachments.files); n != 1 {
		t.Errorf("got %d files, want 1", n)
	}
}

func TestCtrlCEndsAnEditOfAQueuedMessageAndKeepsTheDraft(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 100)
	s.typeText("draft")
	s.edit()
	s.MustSend(protocol.DoQueueHold)
	s.keys("ctrl+c")
	s.mustCompose("draft")
	s.mustNotLeave()
}

func TestCtrlDLeavesOnlyAnEmptyComposer(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80)
	leaves := func() bool {
		s.in.Begin("ctrl+d")
		cmd := s.in.Press(tuitest.KeyPress("ctrl+d")).Cmd
		if cmd == nil {
			return false
		}
		_, quits := cmd().(tea.QuitMsg)
		return quits
	}
	s.typeText("ab")
	s.keys("home", "ctrl+d")
	s.mustCompose("b")
	s.keys("ctrl+d")
	s.mustCompose("")
	if leaves() {
		t.Fatal("a repeated ctrl+d leaves")
	}
	s.keys("x", "backspace")
	if !leaves() {
		t.Error("ctrl+d does not leave an empty composer")
	}
}

func TestTheKeyAfterARemovedRequestDoesNotSend(t *testing.T) {
	for _, key := range []string{"enter", "esc"} {
		s := open(t, tuitest.Scenes["transcript"](), 80)
		s.in.Continue("because", true)
		s.keys(key)
		s.MustSendNothing()
		s.MustShow("the request is gone: this is a message now · enter again sends it", "> because")
		s.keys("enter")
		if d := s.MustSend(protocol.DoSend).(protocol.SendData); d.Text != "because" {
			t.Errorf("sent %q", d.Text)
		}
	}
}
