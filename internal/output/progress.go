package output

import (
	"fmt"
	"strings"
)

// Progress returns a function that shows how much of a long operation is done, as one line on
// stderr, if that is a terminal; end removes the line.
func (p Printer) Progress(what string) (report func(done, total int64), end func()) {
	if p.JSON || !IsTerminal(p.Stderr) {
		return func(int64, int64) {}, func() {}
	}
	shown := ""
	show := func(line string) {
		if line != shown {
			fmt.Fprintf(p.Stderr, "\r%s%s", line, strings.Repeat(" ", max(len(shown)-len(line), 0)))
			shown = line
		}
	}
	report = func(done, total int64) {
		if total > 0 {
			show(fmt.Sprintf("%s: %d%% of %s", what, min(done*100/total, 100), Bytes(total)))
		}
	}
	return report, func() {
		if shown != "" {
			show("")
			fmt.Fprint(p.Stderr, "\r")
		}
	}
}

// Bytes returns a size in its largest binary unit.
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
