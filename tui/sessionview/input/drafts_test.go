package input

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/drafts"
)

// fireDraftTimer fires the timer that saves the draft, if it was started.
func (s *rig) fireDraftTimer() {
	if at := s.in.drafts.Deadline(); !at.IsZero() {
		_, _ = s.in.drafts.Due()
	}
}

func TestTheDraftIsSavedAfterAChangeAndRemovedWhenSent(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80)
	var saved []drafts.Draft
	s.saveTo(&saved)
	s.typeText("too early")
	s.fireDraftTimer()
	if len(saved) != 0 {
		t.Fatalf("saved %+v before the stored draft arrived", saved)
	}
	s.update(DraftMsg{Text: "stored"})
	s.mustCompose("stored\n\ntoo early")
	s.typeText("!")
	s.fireDraftTimer()
	s.keys("left")
	s.fireDraftTimer() // no change
	if len(saved) != 1 || saved[0].Text != "stored\n\ntoo early!" {
		t.Fatalf("saved %+v", saved)
	}
	s.keys("enter") // the answer of the server is the acceptance
	s.fireDraftTimer()
	if len(saved) != 2 || !saved[1].Empty() {
		t.Errorf("after sending: saved %+v", saved)
	}
}

func TestAMessageThatWaitsForTheConnectionIsPartOfTheDraft(t *testing.T) {
	s, dir := openIn(t, map[string]string{"notes.txt": "text"})
	var saved []drafts.Draft
	s.saveTo(&saved)
	s.update(DraftMsg{})
	s.Refuse(tuitest.ErrRefused)
	s.paste(dir + "/notes.txt")
	s.typeText("first")
	s.keys("enter")
	s.typeText("second")
	s.in.SaveDraft()
	if len(saved) != 1 || saved[0].Text != "first\n\nsecond" || len(saved[0].Files) != 1 {
		t.Errorf("saved %+v", saved)
	}
}
