package transcript

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// onGround adds Ground to a line with style marks, and fills it up to the width.
func onGround(line string, width int) string {
	var out strings.Builder
	out.Grow(len(line) + 4*maxMarkBytes + width)
	cells := 0
	for _, run := range splitRuns(line) {
		if run.link {
			out.WriteString(run.text)
			continue
		}
		out.WriteString(withMark(run.text, run.style|Ground))
		cells += Width(run.text)
	}
	out.WriteString(withMark(strings.Repeat(" ", max(0, width-cells)), Ground))
	return out.String()
}

// Muted returns a line with style marks whose text without a hue is faint.
func Muted(line string) string {
	var out strings.Builder
	out.Grow(len(line) + 2*maxMarkBytes)
	for _, run := range splitRuns(line) {
		switch {
		case run.link:
			out.WriteString(run.text)
		case run.style.Hue() == 0:
			out.WriteString(withMark(run.text, run.style|Faint))
		default:
			out.WriteString(withMark(run.text, run.style))
		}
	}
	return out.String()
}

// run is a part of a line in one style, or a link sequence.
type run struct {
	text  string
	style Style
	link  bool
}

// splitRuns returns the parts of a line with style marks.
func splitRuns(line string) []run {
	var out []run
	style := Style(0)
	for line != "" {
		if n, next := parseMark(line); n > 0 {
			style, line = next, line[n:]
			continue
		}
		if n, _ := LinkSequence(line); n > 0 {
			out, line = append(out, run{text: line[:n], link: true}), line[n:]
			continue
		}
		end := strings.IndexByte(line[1:], 0x1b) + 1
		if end == 0 {
			end = len(line)
		}
		out, line = append(out, run{text: line[:end], style: style}), line[end:]
	}
	return out
}

// maxLanguage is the maximum width of the language of a code block. A longer one is no language.
const maxLanguage = 16

// appendLanguage appends the first line of a code block: its language, if it has one.
func appendLanguage(lines []string, language string, width int) []string {
	language = Clean(language)
	cells := ansi.StringWidth(language)
	if cells == 0 || cells > maxLanguage || cells+2 > width {
		return lines
	}
	return append(lines, onGround(" "+withMark(language, Faint), width))
}
