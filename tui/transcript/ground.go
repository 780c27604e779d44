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
	for run := range runs(line) {
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
	for run := range runs(line) {
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
