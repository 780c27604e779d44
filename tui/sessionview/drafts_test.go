package sessionview

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"agentctl/internal/dev/thorough"
	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview/input"
	"agentctl/tui/ui"
)

// TestTypedTextIsNeverLost plays random keys and events. Every typed word must stay in the
// composer, its history or the outbox, or be part of a command.
func TestTypedTextIsNeverLost(t *testing.T) {
	for seed := range uint64(thorough.Rounds(10, 60)) {
		random := rand.New(rand.NewPCG(seed, 1))
		s := open(t, tuitest.NewJournal(), 100, 30)
		s.update(input.DraftMsg{})
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
				focus, text := s.m.focus, s.m.input.Composer().Text()
				did = s.playEvent(random)
				if !strings.Contains(s.m.input.Composer().Text(), text) || s.m.focus != focus && focus == onComposer {
					t.Fatalf("seed %d: %s changed %q to %q, focus %d", seed, did, text, s.m.input.Composer().Text(), s.m.focus)
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
	texts = append(texts, s.m.input.Composer().Text(), s.m.input.Composer().Unsent())
	texts = append(texts, s.m.input.Composer().History(tuitest.Ada)...)
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
