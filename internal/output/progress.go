package output

import (
	"fmt"
	"strings"

	"agentctl/internal/format"
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
			show(fmt.Sprintf("%s: %d%% of %s", what, min(done*100/total, 100), format.Bytes(total)))
		}
	}
	return report, func() {
		if shown != "" {
			show("")
			fmt.Fprint(p.Stderr, "\r")
		}
	}
}
