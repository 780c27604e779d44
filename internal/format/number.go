package format

import (
	"fmt"
	"strconv"
	"strings"
)

// Count returns a number with its noun, with an s unless n is 1.
func Count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

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

// Bytes returns a size in its largest binary unit, such as "913 B", "12.0 KiB" or "3.4 MiB".
func Bytes(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	size, unit := float64(n), 0
	for size >= 1024 && unit < len(units)-1 {
		size /= 1024
		unit++
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", size, units[unit])
}
