package sessionview

import (
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
)

// sends writes a message and sends it.
func (s *screen) sends(text string) {
	s.write(text)
	s.press("enter")
}

func (s *screen) composes(want string) {
	s.t.Helper()
	if got := s.m.composer.Text(); got != want {
		s.t.Fatalf("the composer holds %q, want %q", got, want)
	}
}

func TestTheComposerWalksThroughWhatWasWritten(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24) // ada said something in it, and so did bob
	s.sends("first")
	s.sends("second")
	s.write("draft")
	s.press("up") // within the draft there is nothing above
	s.composes("draft")
	for _, want := range []string{"second", "first", "The test in pkg/store fails now and then. Find out why and fix it, please."} {
		s.press("ctrl+p")
		s.composes(want)
	}
	s.press("ctrl+p")
	s.shows("no earlier message")
	s.press("home", "down", "down") // one row, and one after another
	s.composes("second")
	s.press("down")
	s.composes("draft")
	s.press("down", "ctrl+n")
	s.composes("draft")
}

func TestAnEmptyComposerWalksWithTheArrows(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.sends("one")
	s.write("two")
	s.press("alt+enter")
	s.sends("lines")
	s.press("up")
	s.composes("two\nlines")
	s.press("up") // from its last row to its first
	s.composes("two\nlines")
	s.press("up")
	s.composes("one")
	s.write("!")
	s.press("down", "up", "up")
	s.composes("one!") // what was made of it stays while it is walked
	s.press("enter")
	data := s.session.Commands()
	if got := data[len(data)-1].Data.(protocol.SendData).Text; got != "one!" {
		t.Errorf("sent %q", got)
	}
	s.composes("")
	s.press("up")
	s.composes("one!")
	s.press("down")
	s.composes("")
}

func TestAWheelThatTypesArrowsScrolls(t *testing.T) {
	s := open(t, tuitest.LongSession(40), 60, 20)
	s.sends("sent before")
	s.press("ctrl+end")
	s.press("pgup")
	roll := func(key string) {
		s.now = s.now.Add(time.Second)
		for range 3 {
			s.give(tuitest.KeyPress(key))
		}
	}
	rows := func() []string { return strings.Split(s.text(), "\n")[:10] }
	before := rows()
	roll("up")
	if up := rows(); !slices.Equal(up[3:], before[:7]) {
		t.Errorf("three lines up it is\n%s\nwas\n%s", strings.Join(up, "\n"), strings.Join(before, "\n"))
	}
	s.composes("")
	roll("down")
	s.composes("")
	if got := rows(); !slices.Equal(got, before) {
		t.Errorf("there and back again it is\n%s\nwas\n%s", strings.Join(got, "\n"), strings.Join(before, "\n"))
	}
	s.press("up")
	s.composes("sent before")
	roll("up")
	s.composes("sent before")
}

func TestGivingUpAWalkInterruptsNothing(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.write("draft")
	s.press("ctrl+p", "esc")
	s.composes("draft")
	s.askedNothing()
	s.press("esc")
	s.asked(protocol.DoInterrupt)
}

func TestMessagesOfTheSessionsPastCanBeWrittenAgain(t *testing.T) {
	s := joining(t, 12)
	s.session.Reply = func(a tuitest.Command) (any, error) {
		if a.Verb == protocol.DoHistory {
			return tuitest.HistoryPage(1, 2, false), nil
		}
		return nil, nil
	}
	s.journal.Conn(remote.Conn{State: remote.Connected, Connection: "c1", By: tuitest.Bob})
	s.tell() // asks for the older page
	s.press("up")
	s.composes("question 2")
	s.press("up")
	s.composes("question 1")
}

func TestAMessageSentFromHereIsRememberedOnce(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	s.journal.EndTurn(protocol.ReasonCompleted)
	s.tell()
	s.sends("once")
	s.journal.UserMessage(tuitest.Ada, "m101", "once")
	s.tell()
	s.sends("twice")
	s.press("up")
	s.composes("twice")
	s.press("up")
	s.composes("once")
	s.press("up")
	s.composes("The test in pkg/store fails now and then. Find out why and fix it, please.")
}

func TestAQueuedMessageThatIsEditedKeepsTheDraftOfAWalk(t *testing.T) {
	s := open(t, tuitest.Scenes["queue"](), 80, 24)
	s.sends("sent before")
	s.write("my draft")
	s.press("ctrl+p")
	s.composes("sent before")
	s.press("tab", "e", "ctrl+p")
	s.shows("a queued message is edited", "> Then write the release notes")
	s.press("esc")
	s.composes("my draft")
}
