package tui

import "strings"

// diff shows what changes between two texts: the lines that differ, with one
// line of context, as one hunk.
func diff(old, text string) string {
	a, b := splitLines(old), splitLines(text)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out strings.Builder
	write := func(mark string, lines []string) {
		for _, line := range lines {
			out.WriteString(mark + line + "\n")
		}
	}
	write("  ", a[max(0, head-1):head])
	write("- ", a[head:len(a)-tail])
	write("+ ", b[head:len(b)-tail])
	write("  ", a[len(a)-tail:min(len(a), len(a)-tail+1)])
	return out.String()
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// diff colours a line of a diff by its mark.
func (l *look) diff(line string) string {
	switch {
	case strings.HasPrefix(line, "+"):
		return l.good.Render(line)
	case strings.HasPrefix(line, "-"):
		return l.bad.Render(line)
	case strings.HasPrefix(line, "@@"):
		return l.dim.Render(line)
	}
	return line
}
