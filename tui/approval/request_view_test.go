package approval

import (
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// openTwelveFiles opens a session that asks to change twelve files, with the focus on the request.
func openTwelveFiles(t *testing.T, width, height int) *testPanel {
	t.Helper()
	s := open(t, tuitest.TwelveFiles(), width, height)
	s.focus()
	return s
}

// openReview opens the review of the twelve files.
func openReview(t *testing.T, width, height int) *testPanel {
	t.Helper()
	s := openTwelveFiles(t, width, height)
	s.press("v")
	return s
}

// read shows every line of a review.
func (s *testPanel) read() {
	s.t.Helper()
	for before := ""; before != s.text(); {
		before = s.text()
		s.press("space")
	}
	s.mustShow("all read")
	s.waitGrace()
}

// The title counts the lines of the options too, which must be read as the rest.
func TestTheTitleOfAReviewCountsTheOptions(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "go")
	j.RequestApproval(protocol.Approval{
		Request: "r1", Kind: protocol.ApproveCommand, Title: "Test", Command: "make install", Options: []protocol.Option{
			{ID: "once", Kind: protocol.AllowOnce, Label: strings.Repeat("of course ", 100)}, {ID: "no", Kind: protocol.Deny, Label: "No"},
		},
	})
	s := open(t, j, 40, 15)
	s.focus()
	s.press("v")
	s.mustShow("lines not read")
	s.read()
}

func TestAReviewNamesEachFileOnce(t *testing.T) {
	s := openTwelveFiles(t, 80, 24)
	if n := strings.Count(s.text(), "part0.go"); n != 1 {
		t.Errorf("got %d mentions of the first file, want 1:\n%s", n, s.text())
	}
	s.press("v")
	s.mustHide("file    ▏")
}

func TestAReviewAllowsAfterItWasRead(t *testing.T) {
	s := openReview(t, 80, 24)
	s.press("y")
	s.mustShow("the request is new")
	s.waitGrace()
	s.press("y")
	s.mustNotDecide()
	s.mustShow("not decided: this was not on the screen")
	s.press("g")
	s.read()
	s.mustShow("─ y allow once · n deny")
	s.press("y")
	if data := s.mustDecide(); data.Option != "once" || data.Reason != "" {
		t.Errorf("got decision %+v, want once without a reason", data)
	}
	if s.overlays.Top() != nil {
		t.Error("the review is open after the decision")
	}
}

// TestClicksInAReviewDecideUnderTheGuard clicks twice on "Allow once": before anything was read,
// and right after the options appeared.
func TestClicksInAReviewDecideUnderTheGuard(t *testing.T) {
	s := openReview(t, 80, 24)
	s.waitGrace()
	s.click("n deny")
	s.mustShow("1 Allow once", "3 Deny")
	s.click("1 Allow once")
	s.click("1 Allow once")
	s.mustNotDecide()
	s.waitGrace()
	s.click("1 Allow once")
	s.mustNotDecide()
	s.mustShow("not decided: this was not on the screen")
	s.press("g")
	s.read()
	s.click("y allow once")
	s.click("1 Allow once")
	s.click("1 Allow once")
	s.mustNotDecide()
	s.waitGrace()
	s.click("store/part") // the changes have the keys again
	s.mustHide("1 Allow once")
	s.click("y allow once")
	s.waitGrace()
	s.click("1 Allow once")
	if data := s.mustDecide(); data.Option != "once" {
		t.Errorf("got decision %+v", data)
	}
}

func TestAReviewTakesNoKeyThatFollowsAtOnce(t *testing.T) {
	s := openReview(t, 200, 60)
	s.press("n", "n", "y")
	s.mustNotDecide()
	s.waitGrace()
	s.press("n")
	s.mustDecide()
}

func TestCommentsOfAReviewAreTheReasonOfADenial(t *testing.T) {
	s := openReview(t, 80, 24)
	s.waitGrace()
	s.press("J", "down", "down", "m")
	s.typeText("nay y")
	s.mustNotDecide()
	s.press("enter", "]", "J", "down", "m")
	s.typeText("was used twice")
	s.press("enter")
	s.mustShow("2 comments sent with it")
	s.press("r")
	s.typeText("see below")
	s.press("enter", "esc")
	s.mustShow("r reason with 2 comments: ▏ see below")
	s.waitGrace()
	s.press("n")
	data := s.mustDecide()
	want := "see below\nstore/part0.go:8 (removed): nay y\nstore/part1.go:7: was used twice"
	if data.Option != "no" || data.Reason != want {
		t.Errorf("got decision %+v, want deny with reason\n%s", data, want)
	}
}

func TestAReviewAllowsAlwaysAfterItsScopeWasShown(t *testing.T) {
	s := openReview(t, 200, 60)
	s.waitGrace()
	s.press("a")
	s.mustNotDecide()
	s.read()
	s.press("a")
	s.mustShow("Allow this always", "go mod tidy in")
	s.press("n") // any other key discards it
	s.mustNotDecide()
	s.mustHide("Allow this always")
	s.press("a", "y")
	if data := s.mustDecide(); data.Option != "always" {
		t.Errorf("got decision %+v, want always", data)
	}
}

func TestAReviewOffersAllOptions(t *testing.T) {
	s := openReview(t, 80, 24)
	s.waitGrace()
	s.mustHide("Deny and stop")
	s.press("tab")
	s.mustShow("1 Allow once", "4 Deny and stop the turn")
	s.press("4", "enter")
	if data := s.mustDecide(); data.Option != "stop" {
		t.Errorf("got decision %+v, want stop", data)
	}
}

func TestAReviewOfADecidedRequestDecidesNothing(t *testing.T) {
	s := openReview(t, 80, 24)
	s.read()
	s.journal.AddBy(tuitest.Bob, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
		Request: s.state.Approvals[0].Request, Outcome: protocol.Denied, Decision: protocol.Deny,
	})
	s.applyJournal()
	s.mustShow("it was decided elsewhere")
	s.press("y", "n", "a", "tab", "1", "enter")
	s.mustNotDecide()
	s.press("esc")
	if s.overlays.Top() != nil {
		t.Error("esc does not close the review")
	}
}

func TestAnEditedPatchIsReviewedAnew(t *testing.T) {
	s := open(t, tuitest.Scenes["patch"](), 80, 24)
	s.focus()
	s.edit = replaces("20", "40")
	s.press("v")
	s.waitGrace()
	s.mustShow("+ const limit = 20")
	s.press("e")
	s.mustShow("+ const limit = 40")
	s.mustHide("+ const limit = 20")
}

// A text that is typed though no text field opened decides nothing.
func TestATextWithoutATextFieldDecidesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		open func(*testPanel)
		key  string
	}{
		"comment on no line": {func(s *testPanel) { s.press("v") }, "m"},
		"no editable text":   {func(*testPanel) {}, "e"},
	} {
		s := openTwelveFiles(t, 80, 24)
		c.open(s)
		s.waitGrace()
		s.press(c.key)
		for _, key := range "nny" {
			s.now = s.now.Add(Grace / 2)
			s.fireGuard()
			s.press(string(key))
		}
		s.mustNotDecide()
		s.waitGrace()
		if s.press("n"); len(s.sent) == 0 {
			t.Errorf("%s: the key does not decide after a pause", name)
		}
	}
}

// A key that is refused leaves the review in which the next comment is written.
func TestACommentAfterARefusedKeyIsKept(t *testing.T) {
	s := openReview(t, 80, 24)
	s.waitGrace()
	s.press("y")
	s.mustShow("not decided: this was not on the screen")
	s.press("g", "J", "down", "m")
	s.typeText("why?")
	s.state.Approvals = nil
	s.update()
	if got := s.panel.TakeUnsent(); !strings.HasSuffix(got.Text, ": why?") || !got.Typing {
		t.Errorf("got %+v, want the comment that was being written", got)
	}
}

// While a review asks whether to allow always, a key that does not confirm it only discards the
// question: no other request is shown behind the review.
func TestAKeyDiscardsTheQuestionOfAReviewOnly(t *testing.T) {
	for _, key := range []string{"left", "right", "v", "esc", "n"} {
		j := tuitest.TwelveFiles()
		other := tuitest.CommandApproval()
		other.Request = "other"
		j.Add(protocol.ApprovalRequested, other)
		s := open(t, j, 80, 24)
		s.focus()
		s.press("v")
		s.read()
		s.press("a")
		s.mustShow("Allow this always")
		s.press(key)
		s.mustHide("Allow this always")
		s.mustHide("decided elsewhere")
		s.mustHide("not on the screen")
		s.mustNotDecide()
		s.waitGrace()
		s.press("n")
		if data := s.mustDecide(); data.Request == "other" {
			t.Errorf("%s: another request is decided", key)
		}
	}
}

// The review of a request that is no longer pending decides nothing, though another request waits.
func TestAReviewDecidesItsOwnRequestOnly(t *testing.T) {
	for _, key := range []string{"y", "n", "1"} {
		j := tuitest.TwelveFiles()
		other := tuitest.CommandApproval()
		other.Request = "other"
		j.Add(protocol.ApprovalRequested, other)
		s := open(t, j, 80, 24)
		s.focus()
		s.press("v")
		s.read()
		s.state.Approvals = s.state.Approvals[1:]
		s.update()
		s.mustShow("it was decided elsewhere")
		s.waitGrace()
		s.press("x", key, "enter")
		s.mustNotDecide()
	}
}

// longCommand asks to run a command of 27 lines.
func longCommand() protocol.Approval {
	a := tuitest.CommandApproval()
	a.Command = "set -e\n" + strings.Repeat("echo step\n", 25) + "make install"
	return a
}

// Allowing a command of 27 lines after reading it takes tab, v, the moves and y.
func TestALongCommandIsAllowedInItsView(t *testing.T) {
	for _, size := range [][2]int{{40, 12}, {40, 20}, {80, 24}, {120, 40}} {
		j := tuitest.NewJournal()
		j.UserMessage(tuitest.Ada, "m1", "go")
		j.RequestApproval(longCommand())
		j.CaughtUp()
		s := open(t, j, size[0], size[1])
		s.focus()
		s.press("v")
		s.waitGrace()
		for before := ""; before != s.text(); {
			before = s.text()
			s.press("space")
		}
		s.mustShow("all read")
		s.press("y")
		if d := s.mustDecide(); d.Option != "once" || s.overlays.Top() != nil {
			t.Errorf("%v: got decision %+v", size, d)
		}
	}
}

// All keys that decide work in the view, and the words that ask to read disappear.
func TestKeysDecideInTheViewOfACommand(t *testing.T) {
	for key, option := range map[string]string{"y": "once", "n": "no"} {
		s := openCut(t)
		s.press("y")
		s.mustShow("not decided: view it to its end first")
		s.waitGrace()
		for range 5 {
			s.press("space")
			s.mustHide("to its end first")
		}
		s.mustShow("all read")
		s.press(key)
		if d := s.mustDecide(); d.Option != option {
			t.Errorf("%s: got decision %+v", key, d)
		}
	}
	s := openCut(t)
	s.press("v", "/")
	s.typeText("reboot")
	s.press("enter")
	s.mustShow("close search", "sudo reboot")
	s.waitGrace()
	s.press(">") // the next match
	s.mustNotDecide()
	s.press("esc", "n")
	s.mustDecide()
}

// A key that allows shows what was not read: of a request without changes too.
func TestAnAllowingKeyGoesToTheFirstUnreadLine(t *testing.T) {
	s := openCut(t)
	s.press("v", "end")
	s.mustShow("lines not read")
	s.waitGrace()
	s.press("y")
	s.mustNotDecide()
	s.mustShow("not decided: this was not on the screen")
	for range 3 {
		s.press("space")
	}
	s.mustShow("all read")
	s.waitGrace()
	s.press("y")
	s.mustDecide()
}
