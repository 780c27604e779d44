package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
)

// Fit truncates a line to width cells, with an ellipsis if it is cut.
func Fit(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if len(s) <= width {
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

// OneLine returns text with runs of line breaks and tabs replaced by a space.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

// excerptBytes is the limit in bytes of the text that Excerpt reads.
const excerptBytes = 2 << 10

// Excerpt returns the start of an untrusted text as one line. Its cost does not depend on the
// length of the text.
func Excerpt(s string) string {
	if len(s) > excerptBytes {
		s = s[:excerptBytes]
	}
	return OneLine(transcript.Clean(s))
}

// Duration formats a duration: 340ms, 12s, 3m05s, 2h10m.
func Duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d < time.Hour:
		d = d.Round(time.Second)
		if d < time.Minute {
			return d.String()
		}
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
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

// Count returns a number with its noun, with an s unless n is 1.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
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

// Millis returns a duration of n milliseconds.
func Millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// Thousands formats a count: 950, 12.3k, 200k, 4.5M.
func Thousands(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1000), ".0") + "k"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1_000_000), ".0") + "M"
}

// Seconds returns a remaining time in seconds, rounded up.
func Seconds(left time.Duration) int { return int((left + time.Second - 1) / time.Second) }

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

// Percent formats a percentage as a whole number. Only 0 is "0%", and less than 100 is not "100%".
func Percent(percent float64) string {
	switch {
	case percent > 0 && percent <= 0.5:
		return "<1%"
	case percent > 99 && percent < 100:
		return "99%"
	}
	return fmt.Sprintf("%.0f%%", percent)
}

// Size returns a number of bytes such as "913 bytes", "12 KiB" or "3.4 MiB".
func Size(n int64) string {
	switch {
	case n < 1<<10:
		return Count(int(n), "byte")
	case n < 1<<20:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
