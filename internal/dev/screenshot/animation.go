package screenshot

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// A Frame is a screen and the time for which it is shown.
type Frame struct {
	Screen *Screen
	Time   time.Duration
}

// A placement is a line of text in a row, in some of the frames.
type placement struct {
	line int // its number in the SVG
	row  int
}

// WriteAnimation writes frames of equal size as an SVG that shows them again and again. A program
// without animations, and a user who prefers reduced motion, see the frame with the number still.
//
// Each distinct line of text is in the SVG once. A line in a row has a style rule with the times at
// which it is visible.
func WriteAnimation(to io.Writer, frames []Frame, still int, p SVGOptions) error {
	var (
		lines      []string
		numbers    = map[string]int{} // of lines
		placements []placement
		shown      = map[placement][]bool{} // by frame
	)
	for i, f := range frames {
		for y, row := range f.Screen.cells {
			var b strings.Builder
			p.row(&b, 0, row)
			line := b.String()
			if line == "" {
				continue
			}
			n, known := numbers[line]
			if !known {
				n = len(lines)
				numbers[line], lines = n, append(lines, line)
			}
			at := placement{n, y}
			if shown[at] == nil {
				placements = append(placements, at)
				shown[at] = make([]bool, len(frames))
			}
			shown[at][i] = true
		}
	}

	w := bufio.NewWriter(to)
	p.begin(w, frames[0].Screen)
	fmt.Fprint(w, "<defs>\n")
	for n, line := range lines {
		fmt.Fprintf(w, "<g id=\"l%d\">\n%s</g>\n", n, line)
	}
	fmt.Fprint(w, "</defs>\n")
	var rules []string
	classes := map[string]string{} // by keyframes
	for _, at := range placements {
		attrs := ""
		if k := keyframes(frames, shown[at]); k != "" {
			class := classes[k]
			if class == "" {
				class = fmt.Sprintf("k%d", len(rules))
				classes[k] = class
				rules = append(rules, fmt.Sprintf("@keyframes %s{%s}.%[1]s{animation-name:%[1]s}\n", class, k))
			}
			attrs = fmt.Sprintf(` class="%s"`, class)
			if !shown[at][still] {
				attrs += ` visibility="hidden"`
			}
		}
		fmt.Fprintf(w, `<use href="#l%d" y="%d"%s/>`+"\n", at.line, at.row*cellHeight, attrs)
	}
	fmt.Fprintf(
		w, "<style>@media (prefers-reduced-motion:no-preference){\nuse{animation:%gs step-end infinite}\n%s}</style>\n",
		total(frames).Seconds(), strings.Join(rules, ""),
	)
	return p.end(w)
}

// keyframes returns the changes of visibility in CSS, each at its part of the time, or "" without a
// change.
func keyframes(frames []Frame, shown []bool) string {
	var out strings.Builder
	all, at := total(frames), time.Duration(0)
	changes := 0
	for i, f := range frames {
		if i == 0 || shown[i] != shown[i-1] {
			state := "hidden"
			if shown[i] {
				state = "visible"
			}
			changes++
			fmt.Fprintf(&out, "%.4g%%{visibility:%s}", 100*float64(at)/float64(all), state)
		}
		at += f.Time
	}
	if changes < 2 {
		return ""
	}
	return out.String()
}

func total(frames []Frame) (all time.Duration) {
	for _, f := range frames {
		all += f.Time
	}
	return all
}
