package sessionview

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/ui"
)

// A goldenScene is a screen that is checked at three widths: against a golden file at 80 columns,
// against its facts at every width.
type goldenScene struct {
	name    string
	open    func(t *testing.T, width, height int) *testScreen
	heights [3]int   // at 40, 80 and 200 columns
	shows   []string // visible at every width, in this order
	wide    []string // visible at 200 columns, in any order
	status  []string // on the last line, at every width
}

// The widths of the golden scenes. Only the screen at goldenWidth has a golden file.
var goldenWidths = [3]int{40, goldenWidth, 200}

const goldenWidth = 80

// fromJournal opens a screen of a recorded session and prepares it.
func fromJournal(
	journal func() *tuitest.Journal, prepare ...func(*testScreen),
) func(t *testing.T, width, height int) *testScreen {
	return func(t *testing.T, width, height int) *testScreen {
		s := open(t, journal(), width, height)
		for _, f := range prepare {
			f(s)
		}
		return s
	}
}

// testGoldenScenes runs a subtest for each scene and width.
func testGoldenScenes(t *testing.T, scenes []goldenScene) {
	for _, scene := range scenes {
		for i, width := range goldenWidths {
			t.Run(fmt.Sprintf("%s_%d", scene.name, width), func(t *testing.T) {
				got := scene.open(t, width, scene.heights[i]).text()
				scene.check(t, got, width, scene.heights[i])
				if width == goldenWidth {
					tuitest.Golden(t, got)
				}
			})
		}
	}
}

// check compares the size of a screen and its facts. A fact may be wrapped over lines.
func (g goldenScene) check(t *testing.T, got string, width, height int) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if len(lines) != height {
		t.Errorf("got %d lines, want %d", len(lines), height)
	}
	for i, line := range lines {
		if n := ansi.StringWidth(line); n > width {
			t.Errorf("line %d has %d cells, want at most %d: %q", i, n, width, line)
		}
	}
	status := unwrap(lines[len(lines)-1])
	for _, want := range g.status {
		if !strings.Contains(status, want) {
			t.Errorf("got status line %q, want %q in it", status, want)
		}
	}
	rest := unwrap(got)
	for _, want := range g.shows {
		_, after, ok := strings.Cut(rest, want)
		if !ok {
			t.Errorf("%q is missing, or not in its place, on the screen\n%s", want, got)
			continue
		}
		rest = after
	}
	if width < 200 {
		return
	}
	for _, want := range g.wide {
		if !strings.Contains(unwrap(got), want) {
			t.Errorf("%q is missing on the wide screen\n%s", want, got)
		}
	}
}

// bars matches the bars in the gutter of messages.
var bars = regexp.MustCompile(`(?m)^ [▎▏] `)

// unwrap replaces every run of spaces, line ends and bars of messages by one space.
func unwrap(text string) string {
	return strings.Join(strings.Fields(bars.ReplaceAllString(text, " ")), " ")
}

func TestGoldenFilesAreUsed(t *testing.T) {
	var used []string
	scenes := slices.Concat(
		screenScenes, planScenes, contextScenes, toolCallScenes, statusScenes,
		markdownScenes, fileScenes, imageScenes, hostileScenes, reviewScenes, sharedScenes,
	)
	for _, scene := range scenes {
		used = append(used, fmt.Sprintf("%s_%d.golden", scene.name, goldenWidth))
	}
	for _, theme := range ui.Themes() {
		used = append(used, "theme_"+string(theme)+".golden", "tool_calls_theme_"+string(theme)+".golden")
	}
	used = append(used, "palette_200.golden")
	for _, c := range outlineScreens {
		used = append(used, c.name+".golden")
	}
	for _, c := range replayScreens {
		used = append(used, c.name+".golden")
	}
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range files {
		if !slices.Contains(used, filepath.Base(file)) {
			t.Errorf("no test reads %s", file)
		}
	}
}
