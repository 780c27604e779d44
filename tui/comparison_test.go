package tui

import (
	"fmt"
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/task"
)

// edits returns the updates of a session in dir whose agent changed files: pairs of a path and a text.
func edits(session, name, dir string, files ...string) remote.Updates {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "Change it.")
	for i := 0; i < len(files); i += 2 {
		old, id := "one\ntwo\nthree\n", fmt.Sprint("c", i)
		j.Add(protocol.ToolStarted, protocol.ToolStartedData{Tool: id, Name: "edit", Kind: protocol.ToolEdit})
		j.Add(protocol.ToolOutput, protocol.ToolOutputData{
			Tool: id, Content: []protocol.Content{{Type: "diff", Path: dir + "/" + files[i], Old: &old, New: files[i+1]}},
		})
		j.Add(protocol.ToolEnded, protocol.ToolEndedData{Tool: id, Status: protocol.ToolCompleted})
	}
	j.EndTurn(protocol.ReasonCompleted)
	j.CaughtUp()
	updates := j.Take()
	for _, u := range updates {
		if e := u.Event; e != nil {
			e.Session = session
			if e.Type == protocol.SessionCreated {
				e.Data = protocol.MustEncode(protocol.SessionCreatedData{Name: name, Agent: "gemini", CWD: dir})
			}
		}
	}
	return updates
}

// newEditedPanes returns two sessions side by side that changed files in worktrees. The left one has the
// focus.
func newEditedPanes(t *testing.T, width, height int) *testDashboard {
	t.Helper()
	d := newTestDashboard(t, width, height, tuitest.Summaries()...)
	d.p.dashboard.Select("s1")
	d.press("enter")
	fill := func(session, name, dir string, files ...string) {
		d.send(task.Message{To: d.p.sessions.find(session), Msg: edits(session, name, dir, files...)})
	}
	fill("s1", "left", "/w/left", "pkg/both.go", "one\n2\nthree\n", "same.go", "one\n", "pkg/left.go", "one\n")
	d.press("alt+w", "v")
	d.typeText(d.name("s2"))
	d.press("enter")
	fill("s2", "right", "/w/right", "pkg/both.go", "one\nzwei\nthree\n", "same.go", "one\n", "right.go", "one\ntwo\nthree\nfour\n")
	d.press("alt+w", "w")
	d.wantOnScreen("s1 s2")
	return d
}

var comparisonSizes = [][2]int{{80, 24}, {120, 40}, {200, 60}}

func TestTheChangesOfTwoPanesAreCompared(t *testing.T) {
	for _, size := range comparisonSizes {
		t.Run(fmt.Sprint("comparison_", size[0]), func(t *testing.T) {
			d := newEditedPanes(t, size[0], size[1])
			d.press("f9")
			d.wantOnScreen("s1")
			d.wantText("changed files of left and right", "both · 2", "pkg/both.go", "+1 −1", "only left · 1", "only right · 1")
			tuitest.Golden(t, d.screen())
			d.press("enter")
			d.wantText("− left  + right", "+2", "+zwei", "three")
			d.press("esc", "j", "enter")
			d.wantText("both changes are the same")
			d.press("esc", "j", "enter")
			d.wantText("only left", "pkg/left.go", "- three")
			d.press("esc", "j", "enter")
			d.wantText("only right", "+ four")
			d.press("esc", "esc")
			d.wantOnScreen("s1 s2")
			d.press("f9", "f9")
			d.wantOnScreen("s1 s2")
			d.press("alt+w", "z", "f9")
			d.wantText("files changed in this session")
		})
	}
}

// The session on the right begins the comparison: the sides are those of the screen.
func TestTheSidesOfAComparisonAreThoseOfTheScreen(t *testing.T) {
	d := newEditedPanes(t, 120, 40)
	d.press("alt+w", "w", "f9")
	d.wantText("changed files of left and right", "only right · 1")
	d.press("esc")
	d.wantOnScreen("s2 s1")
}
