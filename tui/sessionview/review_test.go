package sessionview

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// openReview opens the review of the twelve files.
func openReview(t *testing.T, width, height int) *testScreen {
	s := fromJournal(tuitest.TwelveFiles, (*testScreen).focusApproval)(t, width, height)
	s.press("v")
	return s
}

var reviewScenes = []goldenScene{
	{
		name: "twelve_files", open: fromJournal(tuitest.TwelveFiles, (*testScreen).focusApproval), heights: [3]int{24, 24, 60},
		shows: []string{"patch, 12 files +3", "▏ store/part0.go +3 −2"},
		wide:  []string{"n deny", "v review", "patch, 12 files +36 −24"},
	},
	{
		name: "review", open: openReview, heights: [3]int{24, 24, 60},
		shows: []string{"files not read", "store/part0.go +3 −2", "a moment …"},
		wide:  []string{"12 files +36 −24", "✓ ▏ part0.go", "○ ▏ part11.go"},
	},
}

func TestGoldenReviews(t *testing.T) { testGoldenScenes(t, reviewScenes) }

// A comment that is being written continues in the message box if the request is decided elsewhere.
func TestACommentIsKeptWhenTheRequestIsDecidedElsewhere(t *testing.T) {
	for _, paste := range []bool{false, true} {
		s := openReview(t, 100, 30)
		s.waitGrace()
		s.press("J", "down", "m")
		s.typeText("done")
		s.press("enter", "down", "down", "m")
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

func TestASessionWithoutChangedFilesSaysSo(t *testing.T) {
	s := open(t, tuitest.TwelveFiles(), 80, 24)
	s.press("f9")
	s.mustShow("no files were changed")
}

func TestTheFilesOfGitAreOpenedAtEverySize(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		s := open(t, tuitest.Scenes["transcript"](), size[0], size[1])
		s.session.Reply = func(c tuitest.Command) (any, error) {
			switch c.Verb {
			case protocol.DoChanges:
				return protocol.ChangesResult{Repository: true, Files: []protocol.DirectoryFile{{Path: "new/", Status: "?"}}}, nil
			case protocol.DoDiff:
				patch := "--- /dev/null\n+++ b/new/a.go\n@@ -0,0 +1,1 @@\n+package a\n"
				return protocol.DiffResult{Patch: patch + strings.ReplaceAll(patch, "a.go", "b.go")}, nil
			}
			return nil, tuitest.ErrRefused
		}
		s.press("f9")
		s.mustShow("files changed in this session · 1 file +1 −1", "store.go", "? new/")
		s.press("G", "enter")
		s.mustShow("new/ · 2 files +2 −0", "file 1 of 2", "new/a.go", "new/b.go", "+ package a")
		if got := s.session.Commands(); got[len(got)-1].Data != (protocol.DiffData{Path: "new/"}) {
			t.Errorf("sent %+v", got[len(got)-1])
		}
		s.press("esc")
		s.mustShow("files changed in this session")
	}
}
