package sandboxtest

import (
	"fmt"
	"strings"
)

// Table returns the table of the ways in docs/security.md.
func Table() string {
	var b strings.Builder
	b.WriteString("| way | `off` | `workspace` | `read-only` |\n| --- | --- | --- | --- |\n")
	for _, w := range Ways() {
		off, name := "open", w.Name
		if w.Closed {
			off = "–"
		}
		if w.Root {
			name += " (a server of root)"
		}
		fmt.Fprintf(&b, "| %s | %s | stopped | stopped |\n", name, off)
	}
	return b.String()
}
