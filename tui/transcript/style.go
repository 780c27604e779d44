package transcript

import (
	"iter"
	"strconv"
	"strings"
)

// Style describes a piece of text by attribute bits and at most one hue. A RenderFunc defines its
// appearance.
type Style uint32

// Attributes.
const (
	Strong Style = 1 << iota
	Emphasis
	Code
	Link
	Heading
	Faint
	Added   // in a diff
	Removed // in a diff
	Changed // in a diff, within an added or removed line
	Underline
	Reverse
	Strikethrough
	Ground // on the ground of a code block or a table
)

// Hues. A style has at most one.
const (
	Red Style = (iota + 1) << hueShift
	Green
	Yellow
	Blue
	Magenta
	Cyan

	hueShift = 16
	hues     = 7 << hueShift
)

// Hue returns the style's hue, or 0.
func (s Style) Hue() Style { return s & hues }

// RenderFunc renders clean text in a style. It must not change the width of the text.
type RenderFunc func(text string, style Style) string

// withMark encloses clean text in style marks. A mark is an SGR sequence whose parameter is the
// style, so that functions that measure or truncate text count it as zero cells. Clean text
// contains no SGR sequences, so untrusted text cannot contain marks.
func withMark(text string, style Style) string {
	if style == 0 || text == "" {
		return text
	}
	return mark(style) + text + markEnd
}

const (
	markEnd      = "\x1b[m"
	maxMarkBytes = 13
)

func mark(style Style) string { return "\x1b[" + strconv.FormatUint(uint64(style), 10) + "m" }

// parseMark parses the mark at the start of s. It returns the mark's length, or 0, and its style.
func parseMark(s string) (n int, style Style) {
	if len(s) < 3 || s[0] != 0x1b || s[1] != '[' {
		return 0, 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1, style
		case c < '0' || c > '9':
			return 0, 0
		default:
			style = style*10 + Style(c-'0')
		}
	}
	return 0, 0
}

// RenderStyles renders the style marks of a line. Call it for lines of a Text, Markdown or
// StyledText when they are drawn: lines off the screen then cost nothing, and a change of theme
// keeps the layout.
func RenderStyles(line string, render RenderFunc) string {
	if strings.IndexByte(line, 0x1b) < 0 || strings.HasPrefix(line, pictureMark) {
		return line
	}
	var out strings.Builder
	out.Grow(2 * len(line))
	for run := range runs(line) {
		if run.style != 0 && !run.link {
			run.text = render(run.text, run.style)
		}
		out.WriteString(run.text)
	}
	return out.String()
}

// StripStyles removes the style marks and links of a line.
func StripStyles(line string) string {
	if strings.IndexByte(line, 0x1b) < 0 {
		return line
	}
	var out strings.Builder
	for run := range runs(line) {
		if !run.link {
			out.WriteString(run.text)
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

// runs returns the parts of a line with style marks.
func runs(line string) iter.Seq[run] {
	return func(yield func(run) bool) {
		style := Style(0)
		for line != "" {
			if n, next := parseMark(line); n > 0 {
				style, line = next, line[n:]
				continue
			}
			n, _ := LinkSequence(line)
			link := n > 0
			if !link {
				if n = strings.IndexByte(line[1:], 0x1b) + 1; n == 0 {
					n = len(line)
				}
			}
			if !yield(run{line[:n], style, link}) {
				return
			}
			line = line[n:]
		}
	}
}
