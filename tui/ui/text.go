package ui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
)

// Fit truncates a line to width cells, with an ellipsis if it is cut.
func Fit(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if len(s) <= width || transcript.Width(s) <= width {
		return s
	}
	return ansi.Truncate(s, width, "…")
}

// FitLeft truncates the start of a line to width cells, with an ellipsis if it is cut.
func FitLeft(s string, width int) string {
	cut := transcript.Width(s) - width
	if cut <= 0 || width <= 0 {
		return Fit(s, width)
	}
	rest := ansi.TruncateLeft(s, cut+1, "")
	if transcript.Width(rest) >= width { // a wide character is at the cut
		rest = ansi.TruncateLeft(s, cut+2, "")
	}
	return "…" + rest
}

// FitHints returns the leading entries of a hint that fit into width cells.
func FitHints(hint string, width int) string {
	for transcript.Width(hint) > width {
		cut := strings.LastIndex(hint, keymap.Separator)
		if cut < 0 {
			return ""
		}
		hint = hint[:cut]
	}
	return hint
}

// Spread returns a line of width cells with left and right at its ends. If they do not fit, left is
// cut first.
func Spread(left, right string, width int) string {
	leftWidth := width - transcript.Width(right)
	if leftWidth <= 0 {
		return Fit(right, width)
	}
	left = Fit(left, leftWidth-1)
	return left + strings.Repeat(" ", leftWidth-transcript.Width(left)) + right
}

// excerptBytes is the limit in bytes of the text that Excerpt reads.
const excerptBytes = 2 << 10

// Excerpt returns the start of an untrusted text as one line. Its cost does not depend on the
// length of the text.
func Excerpt(s string) string {
	if len(s) > excerptBytes {
		s = s[:excerptBytes]
	}
	return transcript.CleanLine(s)
}

// Wrap wraps text into lines of at most width cells. It returns at least one line.
func Wrap(s string, width int) []string {
	text := transcript.NewText()
	text.Append(s)
	out, _ := text.Lines(width)
	if len(out) == 0 {
		return []string{""}
	}
	return out
}

// Window returns at most n lines around the line at index, and the new index of that line.
func Window[T any](lines []T, index, n int) ([]T, int) {
	if n = max(n, 0); len(lines) <= n {
		return lines, index
	}
	first := max(0, min(index-n/2, len(lines)-n))
	return lines[first : first+n], index - first
}

// Prefixed returns s with a prefix, or "" if s is empty.
func Prefixed(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

// Pad returns text cut or padded on the right to width cells.
func Pad(s string, width int) string {
	s = Fit(s, width)
	return s + strings.Repeat(" ", max(0, width-transcript.Width(s)))
}

// PadLeft returns text padded on the left to at least width cells.
func PadLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-transcript.Width(s))) + s
}

// MoreRows describes the number of hidden rows above and below. It is "" if there are none.
func MoreRows(above, below int) string {
	var parts []string
	if above > 0 {
		parts = append(parts, fmt.Sprintf("↑ %d more", above))
	}
	if below > 0 {
		parts = append(parts, fmt.Sprintf("↓ %d more", below))
	}
	return strings.Join(parts, " · ")
}

// ShortID returns the first 6 bytes of an id, without the name of its server.
func ShortID(id string) string {
	id = id[strings.LastIndexByte(id, '/')+1:]
	return id[:min(len(id), 6)]
}
