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

// Fit cuts a line to width cells, with an ellipsis when something is missing.
func Fit(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if len(s) <= width {
		return s
	}
	return ansi.Truncate(s, width, "…")
}

// FitHints is as many of the keys of a hint as fit whole.
func FitHints(hint string, width int) string {
	for ansi.StringWidth(hint) > width {
		cut := strings.LastIndex(hint, keymap.Separator)
		if cut < 0 {
			return ""
		}
		hint = hint[:cut]
	}
	return hint
}

// Spread puts left and right at the ends of a line; left gives way.
func Spread(left, right string, width int) string {
	room := width - ansi.StringWidth(right)
	if room <= 0 {
		return Fit(right, width)
	}
	left = Fit(left, room-1)
	return left + strings.Repeat(" ", room-ansi.StringWidth(left)) + right
}

// OneLine is text without line breaks, for a title or a row.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

// excerptBytes is how much of a text is looked at for one line of it.
const excerptBytes = 2 << 10

// Excerpt is the beginning of any text in one line: what it costs does not depend
// on how long the text is.
func Excerpt(s string) string {
	if len(s) > excerptBytes {
		s = s[:excerptBytes]
	}
	return OneLine(transcript.Clean(s))
}

// Duration is a duration for people: 340ms, 12s, 3m05s, 2h10m.
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

// Wrap is text in lines of at most width cells.
func Wrap(s string, width int) []string {
	text := transcript.NewText()
	text.Append(s)
	out, _ := text.Lines(width)
	if len(out) == 0 {
		return []string{""}
	}
	return out
}

// Window is at most n of the lines, around one of them.
func Window(lines []string, at, n int) ([]string, int) {
	if n = max(n, 0); len(lines) <= n {
		return lines, at
	}
	first := max(0, min(at-n/2, len(lines)-n))
	return lines[first : first+n], at - first
}

// Prefixed is s after something, unless there is no s.
func Prefixed(before, s string) string {
	if s == "" {
		return ""
	}
	return before + s
}

// Count is a number with its noun.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// Pad is text in exactly width cells.
func Pad(s string, width int) string {
	s = Fit(s, width)
	return s + strings.Repeat(" ", max(0, width-ansi.StringWidth(s)))
}

// PadLeft is text in at least width cells, at their right end.
func PadLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-ansi.StringWidth(s))) + s
}

func Millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// Thousands is a count for people: 950, 12.3k, 4.5M.
func Thousands(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}

// Seconds is what a countdown shows of a time that is left.
func Seconds(left time.Duration) int { return int((left + time.Second - 1) / time.Second) }

// MoreRows says how many rows there are on both sides of those shown.
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

// ShortID is the beginning of an id.
func ShortID(id string) string { return id[:min(len(id), 6)] }

// Percent is a percentage in whole ones; what is not nothing does not show so.
func Percent(percent float64) string {
	if percent > 0 && percent < 0.5 {
		return "<1%"
	}
	return fmt.Sprintf("%.0f%%", percent)
}
