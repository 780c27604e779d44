package ui

import "strings"

// Bar returns a bar of width cells, filled to a fraction from 0 to 1. A fraction above 0 fills at
// least one cell; below 1, at least one cell of several stays empty.
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
