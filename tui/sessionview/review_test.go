package sessionview

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/approval"
)

// twelveFiles is a session with a request to change twelve files.
func twelveFiles() *tuitest.Journal {
	a := tuitest.CommandApproval()
	a.Kind, a.Command, a.Title, a.Why = protocol.ApprovePatch, "", "Rename the type", "The old name lies."
	for i := range 12 {
		name := fmt.Sprintf("store/part%d.go", i)
		a.Paths = append(a.Paths, name)
		a.Patch += fmt.Sprintf("--- a/%s\n+++ b/%s\n@@ -7,3 +7,4 @@ func f%d() {\n", name, name, i) +
			" \tvar a Old\n-\tuse(a)\n-\treturn a\n+\tvar b New\n+\tuse(b)\n+\treturn b\n"
	}
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "Rename it.")
	j.RequestApproval(a)
	j.CaughtUp()
	return j
}

// openReview opens the review of the twelve files.
func openReview(t *testing.T, width, height int) *testScreen {
	s := fromJournal(twelveFiles, (*testScreen).focusApproval)(t, width, height)
	s.press("v")
	return s
}

// read shows every line of a review.
func (s *testScreen) read() {
	s.t.Helper()
	for before := ""; before != s.text(); {
		before = s.text()
		s.press("space")
	}
	s.mustShow("all files read")
	s.waitGrace()
}

var reviewScenes = []goldenScene{
	{
		name: "twelve_files", open: fromJournal(twelveFiles, (*testScreen).focusApproval), heights: [3]int{24, 24, 60},
		shows: []string{"patch, 12 files +3", "changes ▏ store/part0.go +3 −2"},
		wide:  []string{"n deny", "v review", "patch, 12 files +36 −24"},
	},
	{
		name: "review", open: openReview, heights: [3]int{24, 24, 60},
		shows: []string{"patch · 12 files", "files not read", "store/part0.go +3 −2", "a moment …"},
		wide:  []string{"patch · 12 files +36 −24", "✓ ▏ store/part0.go", "○ ▏ store/part11.go"},
	},
}

func TestGoldenReviews(t *testing.T) { testGoldenScenes(t, reviewScenes) }

func TestAReviewNamesEachFileOnce(t *testing.T) {
	s := fromJournal(twelveFiles, (*testScreen).focusApproval)(t, 80, 24)
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
	s.mustSendNothing()
	s.mustShow("not decided: this was not on the screen")
	s.press("g")
	s.read()
	s.mustShow("─ y allow once · n deny")
	s.press("y")
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Option != "once" || data.Reason != "" {
		t.Errorf("got decision %+v, want once without a reason", data)
	}
	if s.m.overlays.Top() != nil {
		t.Error("the review is open after the decision")
	}
}

// TestClicksInAReviewDecideUnderTheGuard clicks twice on "Allow once": before anything was read,
// and right after the options appeared.
func TestClicksInAReviewDecideUnderTheGuard(t *testing.T) {
	s := openReview(t, 80, 24)
	s.waitGrace()
	s.click("n deny", 0)
	s.mustShow("1 Allow once", "3 Deny")
	s.click("1 Allow once", 0)
	s.click("1 Allow once", 0)
	s.mustSendNothing()
	s.waitGrace()
	s.click("1 Allow once", 0)
	s.mustSendNothing()
	s.mustShow("not decided: this was not on the screen")
	s.press("g")
	s.read()
	s.click("y allow once", 0)
	s.click("1 Allow once", 0)
	s.click("1 Allow once", 0)
	s.mustSendNothing()
	s.waitGrace()
	s.click("store/part", 0) // the changes have the keys again
	s.mustHide("1 Allow once")
	s.click("y allow once", 0)
	s.waitGrace()
	s.click("1 Allow once", 0)
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Option != "once" {
		t.Errorf("got decision %+v", data)
	}
}

func TestAReviewTakesNoKeyThatFollowsAtOnce(t *testing.T) {
	s := openReview(t, 200, 60)
	s.press("n", "d", "y")
	s.mustSendNothing()
	s.waitGrace()
	s.press("n")
	s.mustSend(protocol.DoApprove)
}

func TestCommentsOfAReviewAreTheReasonOfADenial(t *testing.T) {
	s := openReview(t, 80, 24)
	s.waitGrace()
	s.press("J", "down", "down", "c")
	s.typeText("nay y")
	s.mustSendNothing()
	s.press("enter", "]", "J", "down", "c")
	s.typeText("was used twice")
	s.press("enter")
	s.mustShow("2 comments sent with it")
	s.press("r")
	s.typeText("see below")
	s.press("enter", "esc")
	s.mustShow("r reason with 2 comments: ▏ see below")
	s.waitGrace()
	s.press("n")
	data := s.mustSend(protocol.DoApprove).(protocol.ApproveData)
	want := "see below\nstore/part0.go:8 (removed): nay y\nstore/part1.go:7: was used twice"
	if data.Option != "no" || data.Reason != want {
		t.Errorf("got decision %+v, want deny with reason\n%s", data, want)
	}
}

func TestAReviewAllowsAlwaysAfterItsScopeWasShown(t *testing.T) {
	s := openReview(t, 200, 60)
	s.waitGrace()
	s.press("a")
	s.mustSendNothing()
	s.read()
	s.press("a")
	s.mustShow("Allow this always", "go mod tidy in")
	s.press("n") // any other key discards it
	s.mustSendNothing()
	s.mustHide("Allow this always")
	s.press("a", "y")
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Option != "always" {
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
	if data := s.mustSend(protocol.DoApprove).(protocol.ApproveData); data.Option != "stop" {
		t.Errorf("got decision %+v, want stop", data)
	}
}

func TestAReviewOfADecidedRequestDecidesNothing(t *testing.T) {
	s := openReview(t, 80, 24)
	s.read()
	s.journal.AddBy(tuitest.Bob, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
		Request: s.m.replica.State.Approvals[0].Request, Outcome: protocol.Denied, Decision: protocol.Deny,
	})
	s.applyJournal()
	s.mustShow("it was decided elsewhere")
	s.press("y", "n", "a", "tab", "1", "enter")
	s.mustSendNothing()
	s.press("esc")
	if s.m.overlays.Top() != nil {
		t.Error("esc does not close the review")
	}
}

func TestAnEditedPatchIsReviewedAnew(t *testing.T) {
	s := open(t, tuitest.Scenes["patch"](), 80, 24)
	s.focusApproval()
	s.setEditor(`sed -i s/20/40/ "$1"`)
	s.press("v")
	s.waitGrace()
	s.mustShow("+ const limit = 20")
	s.press("p")
	s.mustShow("+ const limit = 40")
	s.mustHide("+ const limit = 20")
}

// A comment that is being written goes on in the message box if the request is decided elsewhere.
func TestACommentIsKeptWhenTheRequestIsDecidedElsewhere(t *testing.T) {
	for _, paste := range []bool{false, true} {
		s := openReview(t, 100, 30)
		s.waitGrace()
		s.press("J", "down", "c")
		s.typeText("done")
		s.press("enter", "down", "down", "c")
		s.typeText("not y")
		s.journal.AddBy(tuitest.Bob, protocol.ApprovalResolved, protocol.ApprovalResolvedData{
			Request: "r1", Outcome: protocol.Denied, Decision: protocol.Deny,
		})
		s.applyJournal()
		s.mustShow("it was decided elsewhere · your text is in the message box")
		if paste {
			_ = s.m.Update(tea.PasteMsg{Content: "et"})
		} else {
			s.typeText("et")
		}
		s.press("enter")
		s.mustSendNothing()
		s.mustShow("this is a message now")
		want := "store/part0.go:7: done\nstore/part0.go:8 (removed): not yet"
		if got := s.m.input.Composer().Text(); got != want {
			t.Errorf("got the message box %q, want %q", got, want)
		}
	}
}

// A text that is typed though no text field opened decides nothing.
func TestATextWithoutATextFieldDecidesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		open func(*testScreen)
		key  string
	}{
		"comment on no line": {func(s *testScreen) { s.press("v") }, "c"},
		"no editable text":   {func(*testScreen) {}, "p"},
	} {
		s := fromJournal(twelveFiles, (*testScreen).focusApproval)(t, 80, 24)
		c.open(s)
		s.waitGrace()
		s.press(c.key)
		for _, key := range "dny" {
			s.now = s.now.Add(approval.Grace / 2)
			s.fireGuards()
			s.press(string(key))
		}
		s.mustSendNothing()
		s.waitGrace()
		if s.press("n"); len(s.session.Commands()) == 0 {
			t.Errorf("%s: the key does not decide after a pause", name)
		}
	}
}

func TestASessionWithoutChangedFilesSaysSo(t *testing.T) {
	s := open(t, twelveFiles(), 80, 24)
	s.press("f9")
	s.mustShow("no files were changed")
}
