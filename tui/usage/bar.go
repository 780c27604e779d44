package usage

import "strings"

// Bar is a bar of width cells, filled to a fraction from 0 to 1. What is not empty shows, and what is not full has room.
func Bar(fraction float64, width int) string {
	if width < 1 {
		return ""
	}
	full := int(fraction*float64(width) + 0.5)
	switch {
	case fraction > 0 && full == 0:
		full = 1
	case fraction < 1 && full == width && width > 1:
		full = width - 1
	}
	full = min(max(full, 0), width)
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

var levels = []rune("▁▂▃▄▅▆▇█")

// Sparkline is a cell for each value, as high as it is of most; one that is not known (0) is blank.
func Sparkline(values []int64, most int64) string {
	var b strings.Builder
	for _, v := range values {
		if v <= 0 || most <= 0 {
			b.WriteByte(' ')
			continue
		}
		level := int(float64(v) / float64(most) * float64(len(levels)))
		b.WriteRune(levels[min(max(level, 0), len(levels)-1)])
	}
	return b.String()
}
