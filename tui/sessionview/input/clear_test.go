package input

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

func TestCtrlCClearsADraftThatUndoAndHistoryBringBack(t *testing.T) {
	for _, back := range []string{"ctrl+z", "up"} {
		s := open(t, tuitest.Scenes["transcript"](), 80)
		s.typeText("two words")
		s.keys("ctrl+c")
		s.mustCompose("")
		s.mustShow("draft cleared · ctrl+z restores it")
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
