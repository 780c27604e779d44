package sessionview

import (
	"strings"
	"testing"
	"time"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/describe"
)

// wait lets time pass until the timers of the view have fired.
func (s *testScreen) wait(d time.Duration) {
	s.now = s.now.Add(d)
	s.update(peopleMsg{})
}

// withBob opens a session with three turns that bob has open too.
func withBob(t *testing.T, width int) *testScreen {
	j := tuitest.NewJournal()
	for _, text := range []string{"one", "two", "three"} {
		j.UserMessage(tuitest.Ada, "m"+text, text)
		j.Text("p"+text, strings.Repeat(text+"\n\n", 30))
		j.EndTurn(protocol.ReasonCompleted)
	}
	j.CaughtUp()
	return open(t, j, width, 24)
}

func TestTheServerIsToldWhatIsOnTheScreen(t *testing.T) {
	s := withBob(t, 80)
	s.wait(time.Second)
	s.press("ctrl+home")
	s.wait(2 * time.Second)
	s.press("alt+down")
	for range 5 { // within a second
		s.press("pgdown")
	}
	s.wait(2 * time.Second)
	s.press("ctrl+end")
	s.wait(2 * time.Second)
	s.wait(2 * time.Second)
	s.m.SetHidden(true)
	s.wait(2 * time.Second)
	var got []string
	for _, l := range s.session.Looks() {
		got = append(got, describe.Look(l))
	}
	if want := "live, reads turn 1, reads turn 2, live, "; strings.Join(got, ", ") != want &&
		strings.Join(got, ", ") != strings.Replace(want, "turn 2", "turn 2, reads turn 3", 1) {
		t.Errorf("told %q, want %q", strings.Join(got, ", "), want)
	}
}

func TestALookIsToldAtMostOnceASecondAndAgainAfterAReconnect(t *testing.T) {
	s := withBob(t, 80)
	s.wait(time.Second)
	for range 20 {
		s.press("ctrl+home")
		s.press("ctrl+end")
	}
	if n := len(s.session.Looks()); n != 2 { // at the start, and one of those
		t.Errorf("%d looks in a moment", n)
	}
	s.m.attach(&protocol.SubscribeResult{
		Mode: protocol.ModeResume, Position: protocol.Position{Seq: s.m.replica.state.Seq},
		After:   protocol.Position{Seq: s.m.replica.state.Seq},
		Clients: []protocol.Client{{Client: "c1", By: tuitest.Ada}, {Client: "c2", By: tuitest.Bob}},
	})
	s.m.replica.caughtUp = true
	s.wait(2 * time.Second)
	if n := len(s.session.Looks()); n != 3 {
		t.Errorf("%d looks after a reconnect", n)
	}
}

func TestAServerThatTakesNoLooksIsNotAskedAgain(t *testing.T) {
	for _, code := range []protocol.Code{protocol.CodeUnsupported, protocol.CodeUnknownCommand} {
		s := withBob(t, 80)
		s.refuse(protocol.Errorf(code, "no"))
		s.wait(2 * time.Second)
		n := len(s.session.Looks())
		s.press("ctrl+home")
		s.wait(2 * time.Second)
		if got := len(s.session.Looks()); got > max(n, 1)+1 || !s.m.transcript.people.refused {
			t.Errorf("%s: %d looks, then %d", code, n, got)
		}
		s.mustHide("no")
	}
}

func TestTheSideColumnTellsWhatOthersRead(t *testing.T) {
	s := withBob(t, 140)
	*s.m.panels.side.hidden = false
	for _, c := range []struct {
		look *protocol.Look
		want string
	}{
		{&protocol.Look{Live: true}, "live"},
		{&protocol.Look{Turn: "t1", Number: 12}, "reads turn 12"},
		{&protocol.Look{Turn: "t1"}, "reads an earlier turn"},
		{nil, "● bob"},
	} {
		s.journal.Ephemeral(protocol.ClientLook, protocol.Client{Client: "c2", By: tuitest.Bob, Look: c.look})
		s.applyJournal()
		s.mustShow("● bob", c.want)
	}
	s.mustHide("reads")
}

func TestAPointerOfAnotherUserMarksItsItemForAWhile(t *testing.T) {
	s := withBob(t, 80)
	d := protocol.PointedData{
		Client: "c2", By: tuitest.Bob, PointData: protocol.PointData{Turn: s.turns()[2], Kind: protocol.HitUser},
	}
	s.press("alt+;")
	s.mustShow("no user has pointed at anything yet")
	s.journal.Ephemeral(protocol.ClientPointed, d)
	s.applyJournal()
	s.mustShow("bob points at an item of turn 3 · alt+; go there")
	s.press("alt+;")
	s.mustShow("▎ ada 09:41", "◂ bob")
	for _, line := range strings.Split(s.text(), "\n") {
		if strings.Contains(line, "◂ bob") && !strings.Contains(line, "▎ ada") {
			t.Errorf("the mark is at %q", line)
		}
	}
	s.wait(2 * pointerTime)
	s.mustHide("◂ bob")
	d.Turn = "gone"
	s.journal.Ephemeral(protocol.ClientPointed, d)
	s.applyJournal()
	s.press("alt+;")
	s.mustShow("the item is no longer there")
}

// turns returns the ids of the turns.
func (s *testScreen) turns() (ids []string) {
	for _, t := range s.m.transcript.outline.Turns("") {
		ids = append(ids, t.ID)
	}
	return ids
}

func TestAKeyPointsAtTheSelectedItem(t *testing.T) {
	s := withBob(t, 80)
	s.press("tab", "[", "p")
	want := protocol.PointData{Turn: s.turns()[2], Kind: protocol.HitUser}
	if d := s.mustSend(protocol.DoPoint).(protocol.PointData); d != want {
		t.Errorf("points at %+v, want %+v", d, want)
	}
	s.journal.Ephemeral(protocol.ClientPointed, protocol.PointedData{Client: "c1", By: tuitest.Ada, PointData: want})
	s.applyJournal()
	s.mustShow("◂ you")
	s.journal.Ephemeral(protocol.ClientDetached, protocol.Client{Client: "c2", By: tuitest.Bob})
	s.applyJournal()
	s.press("p")
	s.mustShow("you are alone in this session")
}

func TestAPointerOfAHostileNameStaysOnItsLine(t *testing.T) {
	s := withBob(t, 40)
	by := protocol.Actor{Name: "\x1b[2J" + strings.Repeat("x", 400) + "\n\n"}
	s.journal.Ephemeral(protocol.ClientPointed, protocol.PointedData{
		Client: "c9", By: by, PointData: protocol.PointData{Turn: s.turns()[2], Kind: protocol.HitUser},
	})
	s.applyJournal()
	s.press("alt+;")
	s.mustShow("◂ xxxxxxxxxxxxxxxxxxx…")
	if lines := strings.Split(s.text(), "\n"); len(lines) != 25 || strings.Contains(s.text(), "[2J") {
		t.Errorf("%d lines:\n%s", len(lines), s.text())
	}
}
