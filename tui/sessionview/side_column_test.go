package sessionview

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/protocol"
)

// withSide opens a session with a side column.
func withSide(t *testing.T, scene string, width, height int) *testScreen {
	s := open(t, tuitest.Scenes[scene](), width, height)
	*s.m.panels.side.Hidden = false
	s.m.canvas.Dirty = true
	return s
}

// sideText returns the text of the side column, or "" without one.
func sideText(s *testScreen, width int) string {
	var out strings.Builder
	lines := strings.Split(strings.TrimSuffix(s.text(), "\n"), "\n")
	for _, line := range lines[:len(lines)-1] {
		at := s.m.canvas.Width - width
		if ansi.StringWidth(line) <= at || ansi.Cut(line, at, at+1) != "│" {
			break // below it
		}
		out.WriteString(strings.Join(strings.Fields(ansi.Cut(line, at+1, at+width)), " ") + "\n")
	}
	return out.String()
}

func TestSideColumnShowsTheSectionsThatHaveContent(t *testing.T) {
	for _, c := range []struct {
		scene         string
		screen, width int
		want          []string
		not           string
	}{
		{"plan", 140, 36, []string{
			"plan 1/3\n✓ Read the imports\n▸ Drop what is unused", "files 1\npkg/store/store.go +1 −1\n",
			"people 2\n● ada (you)", "● bob",
		}, "queue"},
		{"queue", 160, 44, []string{
			"queue 2\n1 Then write the release", "2 Push it and tell me.\nheld by bob",
		}, "plan"},
	} {
		s := withSide(t, c.scene, c.screen, 40)
		side := sideText(s, c.width)
		for _, want := range c.want {
			if !strings.Contains(side, want) {
				t.Errorf("%s: %q is not in the side column:\n%s", c.scene, want, s.text())
			}
		}
		if strings.Contains(side, c.not) {
			t.Errorf("%s: the side column has an empty section %s:\n%s", c.scene, c.not, side)
		}
		s.mustHide("queue · ")
		s.mustHide("plan · ")
	}
	empty := tuitest.NewJournal()
	empty.CaughtUp()
	s := open(t, empty, 140, 20)
	*s.m.panels.side.Hidden = false
	s.m.replica.State.Context = &protocol.ContextInfo{Tokens: 10, MaxTokens: 100}
	s.m.canvas.Dirty = true
	if text := sideText(s, 36); text != "" {
		t.Errorf("got a side column for context and people alone:\n%s", s.text())
	}
}

func TestSideColumnScrollsAndStaysOnALowScreen(t *testing.T) {
	s := withSide(t, "plan", 140, 8)
	if side := sideText(s, 36); !strings.HasPrefix(side, "plan 1/3\n") || !strings.HasSuffix(side, "more lines\n") {
		t.Fatalf("got side column\n%s", side)
	}
	before := sideText(s, 36)
	top := strings.Split(s.text(), "\n")[0][:40]
	for range 20 {
		s.update(tea.MouseWheelMsg{X: 120, Y: 2, Button: tea.MouseWheelDown})
	}
	side := sideText(s, 36)
	if side == before || !strings.HasSuffix(side, "● bob\n") {
		t.Errorf("the wheel does not scroll the column to its end:\n%s", side)
	}
	if got := strings.Split(s.text(), "\n")[0][:40]; got != top {
		t.Errorf("the wheel over the column scrolls the transcript from %q to %q", top, got)
	}
	s.update(tea.MouseWheelMsg{X: 10, Y: 2, Button: tea.MouseWheelUp})
	if sideText(s, 36) != side {
		t.Error("the wheel over the transcript scrolls the column")
	}
}

func TestSideColumnIsHiddenByItsKey(t *testing.T) {
	s := withSide(t, "queue", 140, 30)
	var saved []bool
	s.m.panels.side.OnChange = func(hidden bool) { saved = append(saved, hidden) }
	s.press("alt+p")
	if s.mustShow("side column hidden", "queue · 2 messages"); sideText(s, 36) != "" {
		t.Errorf("the column is still there:\n%s", s.text())
	}
	s.press("alt+p")
	if side := sideText(s, 36); !strings.Contains(side, "queue 2") || len(saved) != 2 || !saved[0] || saved[1] {
		t.Errorf("the key does not show the column again, or reports %v:\n%s", saved, s.text())
	}
	s.press("tab") // the queue takes keys in its panel
	s.mustShow("queue · 2 messages")
}

func TestSideColumnIsAnOverlayOnANarrowScreen(t *testing.T) {
	s := withSide(t, "plan", 80, 24)
	s.mustHide("files 1")
	s.press("alt+p")
	s.mustShow("plan 1/3", "files 1", "people 2", "esc back")
	s.typeText("x") // goes to no text field below
	s.press("esc")
	s.mustHide("files 1")
	s.mustHide("> x")
	s.press("alt+p", "alt+p")
	s.mustHide("files 1")
}

// The text of the transcript is wrapped once for a width of the screen, whether the column is there or
// not, and ends at one margin.
func TestTheSideColumnWrapsNoText(t *testing.T) {
	for _, width := range []int{120, 140, 160, 200} {
		s := withSide(t, "transcript", width, 40)
		s.text()
		with := s.m.transcript.View.List.Width()
		s.m.transcript.View.Reset(0, s.m.replica.State, width, 40) // no changed files
		s.m.canvas.Dirty = true
		s.text()
		if without := s.m.transcript.View.List.Width(); with != without {
			t.Errorf("at %d columns text is %d cells wide beside the column, %d without it", width, with, without)
		}
		if s.m.panels.side.Width(width) != 0 {
			t.Errorf("at %d columns the column is there without content", width)
		}
	}
}

func TestTheSideColumnShowsGitStatusBesideTheFiles(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 140, 40)
	s.session.Reply = func(c tuitest.Command) (any, error) {
		if c.Verb != protocol.DoChanges {
			return nil, tuitest.ErrRefused
		}
		return protocol.ChangesResult{Repository: true, Files: []protocol.DirectoryFile{
			{Path: "go.mod", Status: "M", Added: 2}, {Path: "pkg/store/store.go", Status: "M", Added: 1, Removed: 1},
		}}, nil
	}
	*s.m.panels.side.Hidden = false
	s.applyJournal()
	want := "files 1\npkg/store/store.go M +1 −1\n\ngit 1\nM go.mod +2 −0\n"
	if side := sideText(s, 36); !strings.Contains(side, want) {
		t.Errorf("got side column\n%s\nwant\n%s", side, want)
	}
}
