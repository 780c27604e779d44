package sessionview

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/internal/download"
	"agentctl/protocol"
	"agentctl/tui/ui"
)

// openImages returns a screen that draws images.
func openImages(t *testing.T, j *tuitest.Journal, width, height int) *testScreen {
	s := open(t, j, width, height)
	s.update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	s.session.ReplyToBlobs(string(tuitest.SolidPNG(20, 10)), 64)
	return s
}

// loadImages fires the timer of the images.
func (s *testScreen) loadImages() {
	if at := s.m.panels.images.Deadline(); !at.IsZero() {
		s.update(ui.TimerMsg{At: at})
	}
}

// pictureRows returns the rows of the screen with a picture.
func (s *testScreen) pictureRows() (rows []int) {
	for i, line := range strings.Split(ansi.Strip(s.m.View().Content), "\n") {
		if strings.ContainsAny(line, "▀▄") {
			rows = append(rows, i)
		}
	}
	return rows
}

var imageScenes = []goldenScene{
	{
		name: "images",
		open: func(t *testing.T, width, height int) *testScreen {
			s := openImages(t, tuitest.ImagesJournal(), width, height)
			s.loadImages()
			s.press("ctrl+home")
			s.loadImages()
			return s
		},
		heights: [3]int{30, 24, 30},
		shows: []string{
			"Plot the latencies.", "[image sketch.png · 40×20 · image/png", "▀▀▀", "[file numbers.csv", "One line.",
		},
		status: []string{"fix-tests"},
	},
	{
		name: "images_of_a_tool",
		open: func(t *testing.T, width, height int) *testScreen {
			s := openImages(t, tuitest.ImagesJournal(), width, height)
			s.press("shift+tab", "K")
			s.loadImages()
			return s
		},
		heights: [3]int{24, 24, 24},
		shows:   []string{"✓ browser take screenshots", "[image shot.png · image/png", "[image rest.png", "▀▀▀"},
		status:  []string{"fix-tests"},
	},
}

func TestGoldenImages(t *testing.T) { testGoldenScenes(t, imageScenes) }

func TestAPictureIsCutAtTheEdgesOfTheTranscript(t *testing.T) {
	s := openImages(t, tuitest.ImagesJournal(), 80, 24)
	s.press("ctrl+home")
	s.loadImages()
	all := s.pictureRows()
	for cut := 1; cut < len(all); cut++ {
		s.m.transcript.View.List.SetTopLine(s.m.transcript.View.List.First(), all[0]+cut)
		s.update(tea.FocusMsg{})
		s.m.canvas.Dirty = true
		if got := s.pictureRows(); len(got) != len(all)-cut || got[0] != 0 {
			t.Errorf("scrolled by %d of %d rows: rows %v", cut, len(all), got)
		}
	}
}

func TestPicturesFollowTheWidthAndNeverExceedIt(t *testing.T) {
	s := openImages(t, tuitest.ImagesJournal(), 80, 30)
	s.loadImages()
	for _, width := range []int{80, 31, 12, 3, 1, 200} {
		s.update(tea.WindowSizeMsg{Width: width, Height: 30})
		s.loadImages()
		for _, line := range strings.Split(s.m.View().Content, "\n") {
			if n := ansi.StringWidth(line); n > width {
				t.Errorf("at a width of %d a line has %d cells: %q", width, n, line)
			}
		}
	}
}

func TestImagesAreLinesWithFewColours(t *testing.T) {
	for _, profile := range []colorprofile.Profile{colorprofile.ANSI, colorprofile.ASCII, colorprofile.NoTTY} {
		s := open(t, tuitest.ImagesJournal(), 80, 60)
		s.update(tea.ColorProfileMsg{Profile: profile})
		s.press("ctrl+home")
		s.loadImages()
		s.mustShow("[image sketch.png · image/png")
		if rows := s.pictureRows(); rows != nil {
			t.Errorf("%v: pictures in the rows %v", profile, rows)
		}
	}
}

func TestAnApprovalHasNoPictures(t *testing.T) {
	j := tuitest.NewJournal()
	j.UserMessage(tuitest.Ada, "m1", "Take a screenshot.")
	shot := protocol.Content{Type: "image", Name: "s.png", Data: protocol.MustEncode(tuitest.SolidPNG(40, 40))}
	j.Tool("c1", protocol.ToolStartedData{Name: "browser", Title: "take a screenshot"}, "")
	j.Add(protocol.ToolOutput, protocol.ToolOutputData{Tool: "c1", Content: []protocol.Content{shot}})
	a := tuitest.CommandApproval()
	a.Tool, a.Command = "c1", "ls \U0010EEEE\u0305\u0305"
	j.RequestApproval(a)
	j.CaughtUp()
	s := openImages(t, j, 100, 50)
	s.loadImages()
	if rows := s.pictureRows(); len(rows) == 0 {
		t.Fatal("the tool call has no picture")
	}
	lines, _ := s.m.panels.decision.Lines(100, 40)
	if all := strings.Join(lines, "\n"); strings.ContainsAny(all, "▀\U0010EEEE") || !strings.Contains(all, "U+10EEEE") {
		t.Errorf("the approval is\n%s", all)
	}
}

func TestAClickOnAPictureOpensTheImage(t *testing.T) {
	s := openImages(t, tuitest.ImagesJournal(), 80, 24)
	s.press("ctrl+home")
	s.loadImages()
	rows := s.pictureRows()
	t.Setenv("TMPDIR", t.TempDir())
	s.m.files.Viewer = &download.Viewer{Command: []string{"agentctl-no-such-opener"}}
	s.update(tea.MouseClickMsg{X: 5, Y: rows[0] - 1, Button: tea.MouseLeft})
	if s.m.status.Text != "" {
		t.Errorf("a click beside it: %s", s.m.status.Text)
	}
	s.update(tea.MouseClickMsg{X: 5, Y: rows[0], Button: tea.MouseLeft})
	s.mustShow("agentctl-no-such-opener is not installed")
}

func TestTheUserTurnsImagesOff(t *testing.T) {
	s := openImages(t, tuitest.ImagesJournal(), 80, 30)
	s.m.Styles.Images.Off = true
	s.loadImages()
	s.mustShow("[image")
	if rows := s.pictureRows(); rows != nil {
		t.Errorf("pictures in the rows %v", rows)
	}
}

func TestAHiddenViewLoadsNoImages(t *testing.T) {
	s := openImages(t, tuitest.ImagesJournal(), 80, 30)
	s.m.SetHidden(true)
	s.loadImages()
	if rows := s.pictureRows(); rows != nil {
		t.Errorf("hidden: pictures in the rows %v", rows)
	}
	s.m.SetHidden(false)
	s.m.canvas.Dirty = true
	s.loadImages()
	if rows := s.pictureRows(); rows == nil {
		t.Error("no pictures once the view is shown")
	}
}
