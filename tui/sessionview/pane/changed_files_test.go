package pane

import (
	"slices"
	"strings"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// editedTwice is a session with two turns that change one file, and a failed change.
func editedTwice() *tuitest.Journal {
	j := tuitest.NewJournal()
	edit := func(id, old, text string, status protocol.ToolStatus) {
		j.Add(protocol.ToolStarted, protocol.ToolStartedData{Tool: id, Name: "edit", Kind: protocol.ToolEdit})
		j.Add(protocol.ToolOutput, protocol.ToolOutputData{
			Tool: id, Content: []protocol.Content{{Type: "diff", Path: "a.go", Old: &old, New: text}},
		})
		j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: id, Status: status})
	}
	j.UserMessage(tuitest.Ada, "m1", "First.")
	edit("one", "x\n", "first\n", protocol.ToolCompleted)
	edit("two", "x\n", "refused\n", protocol.ToolFailed)
	j.EndTurn(protocol.ReasonCompleted)
	j.UserMessage(tuitest.Ada, "m2", "Second.")
	edit("three", "first\n", "second\n", protocol.ToolCompleted)
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	return j
}

func TestTheFilesOfASessionAreReviewed(t *testing.T) {
	s := open(t, editedTwice(), 80, 24)
	s.press("f9")
	s.MustShow("files changed in this session · 1 file +2 −2", "a.go", "+2 −2")
	s.press("enter")
	s.MustShow("+ first", "+ second")
	s.MustHide("refused")
	s.press("y", "n", "a", "tab")
	s.MustSendNothing()
	s.press("esc")
	s.MustHide("files changed")
}

func TestCommentsOnFinishedChangesBecomeAMessage(t *testing.T) {
	s := open(t, editedTwice(), 80, 24)
	s.press("f9")
	s.MustShow("enter open")
	s.press("enter", "j", "j", "j", "m")
	s.typeText("Why?")
	s.press("enter")
	s.MustShow("┕ Why?")
	s.press("j", "j", "j", "j", "m")
	s.typeText("Better.")
	s.press("enter", "esc")
	want := "a.go:1: `first`\nWhy?\n\na.go:1: `second`\nBetter."
	if s.text != want {
		t.Errorf("got the message %q, want %q", s.text, want)
	}
	if got := s.Commands.Status.Text; got != "2 comments in the message box · not sent yet" {
		t.Errorf("got status %q", got)
	}
}

func TestTheChangesOfATurnOrACallAreShown(t *testing.T) {
	s := open(t, editedTwice(), 80, 24)
	s.press("tab")
	for _, tt := range []struct {
		keys []string
		row  int // the hunk of the call in the review
	}{
		{[]string{"G", "f"}, 6}, // the end of the second turn
		{[]string{"g", "f"}, 3},
		{[]string{"g", "t", "f"}, 3},
		{[]string{"G", "T", "f"}, 6},
	} {
		s.press(tt.keys...)
		s.MustShow("files changed in this session · 1 file +2 −2")
		lines, _ := s.Overlays.Top().View(80, 24)
		row := slices.IndexFunc(lines[2:], func(l string) bool { return strings.HasPrefix(l, "\x1b[7m") }) + 2
		if row != tt.row {
			t.Errorf("%v select row %d, want %d", tt.keys, row, tt.row)
		}
		s.press("esc")
	}
}

func TestTheChangedFilesStandBesideGitStatus(t *testing.T) {
	s := open(t, editedTwice(), 80, 24)
	s.press("f9")
	s.git.files = []protocol.DirectoryFile{
		{Path: "a.go", Status: "M", Added: 1, Removed: 1}, {Path: "by-hand.go", Status: "A", Added: 3}, {Path: "new\u202e/", Status: "?"},
	}
	s.MustShow("M ▏ a.go", "  ▏ A by-hand.go", "+3 −0", "? new")
	if s.git.requests != 1 {
		t.Errorf("requested %d times", s.git.requests)
	}
}

func TestAFileThatOnlyGitKnowsIsOpened(t *testing.T) {
	s := open(t, editedTwice(), 80, 24)
	s.press("f9")
	s.git.files = []protocol.DirectoryFile{{Path: "a.go", Status: "M"}, {Path: "by\thand.go", Status: "?"}}
	hostile := "--- /dev/null\n+++ b/by-hand.go\n@@ -0,0 +1,2 @@\n+by hand\u202e\n+\x1b[2J\n"
	s.git.diff = func(path string) (*protocol.DiffResult, error) {
		if path != "by\thand.go" {
			t.Errorf("asked for %q", path)
		}
		return &protocol.DiffResult{Patch: hostile, Cut: true}, nil
	}
	s.press("G", "enter")
	s.MustShow("its first 65 B · 1 file +2 −0", "+ by hand", "␛[2J", "new by-hand.go")
	s.MustHide("\u202e")
	s.press("esc")
	s.MustShow("files changed in this session", "hand.go")
	s.git.diff = func(string) (*protocol.DiffResult, error) { return &protocol.DiffResult{}, nil }
	s.press("enter")
	s.MustShow("no difference from the last commit")
	s.press("esc")
	s.git.diff = func(string) (*protocol.DiffResult, error) { return nil, tuitest.ErrRefused }
	s.press("enter")
	s.MustShow(tuitest.ErrRefused.Message)
}

// After the attach to a long session the list lacks the turns that are not loaded, and requests them.
func TestTheChangesOfTurnsThatAreNotLoadedAreListed(t *testing.T) {
	past := editedTwice().Pending
	var events []*protocol.Event
	for _, u := range past {
		if u.Event != nil && u.Event.Turn != "" {
			events = append(events, u.Event)
		}
	}
	at := events[len(events)-1].Seq
	s := openAtEnd(t, at)
	history := func(second bool) func(c tuitest.Command) (any, error) {
		return func(c tuitest.Command) (any, error) {
			if c.Verb != protocol.DoHistory {
				return nil, nil
			}
			d, page := c.Data.(protocol.HistoryData), protocol.HistoryResult{}
			for _, e := range events {
				half := e.Seq >= events[len(events)/2].Seq
				if e.Seq < d.Before && half == (d.Before > at) {
					page.Events = append(page.Events, e.AppendJSON(nil))
				}
			}
			if d.Before > at {
				page.More, page.First = true, events[len(events)/2].Seq
			} else if !second {
				return nil, tuitest.ErrRefused
			}
			return page, nil
		}
	}
	s.Session.Reply = history(false)
	s.applyJournal()
	s.press("f9")
	s.MustShow("files changed in the turns that are loaded", "a.go", "+1 −1")
	s.press("enter", "esc")
	s.Session.Reply = history(true)
	s.press("f9")
	s.MustShow("files changed in this session · 1 file +2 −2", "a.go")
	s.press("enter")
	s.MustShow("+ first", "+ second")
	if files := s.pane.View.ChangedFiles(); len(files) != 1 || files[0].Added != 2 {
		t.Errorf("the side column has %v", files)
	}
	s.press("esc")
}

func TestNoChangesAreShownBeforeTheSessionIsLoaded(t *testing.T) {
	s := open(t, tuitest.NewJournal(), 80, 24)
	s.Replica.CaughtUp = false
	s.press("f9")
	s.MustHide("files changed")
	if s.Commands.Status.Text != "the session is still loading" {
		t.Errorf("the status says %q", s.Commands.Status.Text)
	}
}
