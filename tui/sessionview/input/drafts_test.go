package input

import (
	"slices"
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/drafts"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
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

func TestADraftIsSavedAfterTheFirstChangeUnlessItIsTheSame(t *testing.T) {
	now, draft := tuitest.Start, drafts.Draft{Text: "stored"}
	var saved []string
	s := draftSaver{
		Base:  panel.Base{Now: func() time.Time { return now }},
		draft: func() drafts.Draft { return draft },
		write: func(d drafts.Draft) { saved = append(saved, d.Text) },
	}
	key := tuitest.KeyPress("x")
	mustWait := func(want time.Time) {
		t.Helper()
		if got := s.Deadline(); got != want {
			t.Fatalf("got deadline %v, want %v", got, want)
		}
	}
	s.follow(key)
	mustWait(time.Time{}) // the stored draft is not known
	s.restore(draft)
	s.follow(ui.TimerMsg{})
	mustWait(time.Time{})
	first := now.Add(draftDelay)
	s.follow(key)
	mustWait(first)
	now = now.Add(draftDelay / 2)
	draft.Text = "changed"
	s.follow(key)
	mustWait(first)
	for range 2 { // the second time it is the same
		_, _ = s.Due()
		mustWait(time.Time{})
	}
	if !slices.Equal(saved, []string{"changed"}) {
		t.Errorf("saved %q", saved)
	}
}
