package screenshot

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
)

var (
	drawnLine = regexp.MustCompile(`(?s)<g id="(l\d+)">\n(.*?)</g>`)
	drawnText = regexp.MustCompile(`>([^<]+)</text>`)
	use       = regexp.MustCompile(`<use href="#(l\d+)" y="(\d+)"(?: class="(k\d+)")?( visibility="hidden")?/>`)
	keyframe  = regexp.MustCompile(`([\d.]+)%\{visibility:(\w+)\}`)
)

// shownAt returns the lines of an animation at a part of its time, in percent, by row. Without
// animations, at is negative.
func shownAt(svg string, at float64) string {
	texts := map[string]string{}
	for _, m := range drawnLine.FindAllStringSubmatch(svg, -1) {
		for _, part := range drawnText.FindAllStringSubmatch(m[2], -1) {
			texts[m[1]] += part[1]
		}
	}
	var rows [2]string
	for _, m := range use.FindAllStringSubmatch(svg, -1) {
		visible := m[4] == ""
		if m[3] != "" && at >= 0 {
			_, rule, _ := strings.Cut(svg, "@keyframes "+m[3]+"{")
			rule, _, _ = strings.Cut(rule, "}.")
			for _, k := range keyframe.FindAllStringSubmatch(rule+"}", -1) {
				var from float64
				_, _ = fmt.Sscan(k[1], &from)
				if from <= at {
					visible = k[2] == "visible"
				}
			}
		}
		if visible {
			var y int
			_, _ = fmt.Sscan(m[2], &y)
			rows[y/cellHeight] += texts[m[1]]
		}
	}
	return strings.Join(rows[:], "|")
}

func TestAnAnimationShowsEachFrameForItsTime(t *testing.T) {
	terminal := NewTerminal(10, 2)
	defer terminal.Close()
	var frames []Frame
	for _, f := range []struct {
		output string
		time   time.Duration
	}{
		{"$", 500 * time.Millisecond},
		{" ls\n", 300 * time.Millisecond},
		{"go.mod", 100 * time.Millisecond},
		{"\x1b[H\x1b[2Jgo.mod", 1100 * time.Millisecond},
	} {
		if _, err := terminal.Write([]byte(f.output)); err != nil {
			t.Fatal(err)
		}
		frames = append(frames, Frame{terminal.Screen(), f.time})
	}
	var b strings.Builder
	if err := WriteAnimation(&b, frames, 2, SVGOptions{Background: "#000000", Foreground: "#ffffff"}); err != nil {
		t.Fatal(err)
	}
	svg := strings.ReplaceAll(b.String(), "\u00a0", " ")
	for at, want := range map[float64]string{
		0: "$|", 24: "$|", 26: "$ ls|", 39: "$ ls|", 41: "$ ls|go.mod", 46: "go.mod|", 99: "go.mod|",
		-1: "$ ls|go.mod",
	} {
		if got := shownAt(svg, at); got != want {
			t.Errorf("at %g%%: %q, want %q in\n%s", at, got, want, svg)
		}
	}
	if !strings.Contains(svg, "animation:2s step-end infinite") {
		t.Errorf("not of 2 seconds:\n%s", svg)
	}
	if n := strings.Count(svg, ">go.mod<"); n != 1 {
		t.Errorf("the same line is drawn %d times", n)
	}
}
