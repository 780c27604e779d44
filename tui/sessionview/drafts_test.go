package sessionview

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/drafts"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// saveTo makes the screen save its draft in saved.
func (s *testScreen) saveTo(saved *[]drafts.Draft) {
	s.m.panels.drafts.save = func(d drafts.Draft) { *saved = append(*saved, d) }
}

// fireDraftTimer fires the timer that saves the draft, if it was started.
func (s *testScreen) fireDraftTimer() {
	if at := s.m.panels.drafts.at; !at.IsZero() {
		s.update(ui.TimerMsg{At: at})
	}
}

func TestTheDraftIsSavedAfterAChangeAndRemovedWhenSent(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
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
	s.press("left")
	s.fireDraftTimer() // no change
	if len(saved) != 1 || saved[0].Text != "stored\n\ntoo early!" {
		t.Fatalf("saved %+v", saved)
	}
	s.press("enter") // the answer of the server is the acceptance
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
	s.refuse(tuitest.ErrRefused)
	s.paste(dir + "/notes.txt")
	s.typeText("first")
	s.press("enter")
	s.typeText("second")
	s.m.SaveDraft()
	if len(saved) != 1 || saved[0].Text != "first\n\nsecond" || len(saved[0].Files) != 1 {
		t.Errorf("saved %+v", saved)
	}
}

// TestTypedTextIsNeverLost plays random keys and events. Every typed word must stay in the
// composer, its history or the outbox, or be part of a command.
func TestTypedTextIsNeverLost(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 1))
		s := open(t, tuitest.NewJournal(), 100, 30)
		s.update(DraftMsg{})
		var words []string
		keys := []string{
			"enter", "ctrl+c", "ctrl+z", "esc", "tab", "shift+tab", "up", "down", "ctrl+p", "ctrl+n", "f1", "f3", "q",
			"ctrl+x", "alt+t", "ctrl+r", "ctrl+f", "alt+1", "pgup", "left", "home", "end", "alt+enter",
		}
		for step := range 60 {
			var did string
			switch random.IntN(4) {
			case 0:
				if s.m.focus == onComposer && s.m.overlays.Top() == nil {
					word := fmt.Sprintf("w%dx%d", seed, step)
					s.press("end") // a word inside of another one would split it
					s.typeText(" " + word + " ")
					words, did = append(words, word), "typed "+word
				}
			case 1, 2:
				did = keys[random.IntN(len(keys))]
				s.update(ui.TimerMsg{At: s.now.Add(ui.LeaveTimeout)})
				s.press(did)
			default:
				focus, text := s.m.focus, s.m.composer.Text()
				did = s.playEvent(random)
				if !strings.Contains(s.m.composer.Text(), text) || s.m.focus != focus && focus == onComposer {
					t.Fatalf("seed %d: %s changed %q to %q, focus %d", seed, did, text, s.m.composer.Text(), s.m.focus)
				}
			}
			for _, word := range words {
				if !strings.Contains(s.written(), word) {
					t.Fatalf("seed %d: %q is lost after %s", seed, word, did)
				}
			}
		}
	}
}

// written returns everything that the user wrote and that was not lost.
func (s *testScreen) written() string {
	texts, _ := s.m.panels.outbox.Unaccepted()
	texts = append(texts, s.m.composer.Text(), s.m.composer.Unsent())
	texts = append(texts, s.m.composer.History(tuitest.Ada)...)
	for _, c := range s.session.Commands() {
		texts = append(texts, string(protocol.MustEncode(c.Data)))
	}
	return strings.Join(texts, "\n")
}

// playEvent plays a random event of the session or of the connection.
func (s *testScreen) playEvent(random *rand.Rand) string {
	switch random.IntN(5) {
	case 0:
		if s.journal.Turn == "" {
			s.journal.UserMessage(tuitest.Bob, fmt.Sprint("m", s.journal.Seq), "question")
			s.journal.Text(fmt.Sprint("p", s.journal.Seq), "answer")
		} else {
			s.journal.EndTurn(protocol.ReasonCompleted)
		}
		s.applyJournal()
		return "a turn"
	case 1:
		s.update(remote.Updates{{Conn: &remote.Conn{State: remote.Reconnecting}}})
		return "a lost connection"
	case 2:
		s.update(remote.Updates{{Conn: &remote.Conn{State: remote.Connected, By: tuitest.Ada}}})
		return "a connection"
	case 3:
		s.journal = tuitest.NewJournal()
		s.applyJournal()
		return "a reset"
	}
	request := fmt.Sprint("a", s.journal.Seq)
	s.journal.RequestApproval(protocol.Approval{Request: request, Kind: protocol.ApproveTool, Title: "Fetch"})
	s.applyJournal()
	return "an approval"
}
