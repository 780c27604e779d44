package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/transcript"
)

// Sanitize removes control characters from a line. It keeps SGR sequences and safe links, and
// closes a link that is open at the end of the line.
func Sanitize(line string) string {
	var out []byte // nil until something is removed
	open := false  // inside a link
	for i := 0; i < len(line); {
		n, keep := 1, true
		switch b := line[i]; {
		case b == 0x1b:
			n = sgrLength(line[i:])
			if link, to := transcript.LinkSequence(line[i:]); link > 0 {
				n, open = link, to != ""
			}
			keep = n > 0
			n = max(n, 1)
		case b < 0x20 || b == 0x7f:
			keep = false
		case b == 0xc2 && i+1 < len(line) && line[i+1] < 0xa0: // C1
			n, keep = 2, false
		}
		if !keep && out == nil {
			out = append(make([]byte, 0, len(line)), line[:i]...)
		}
		if keep && out != nil {
			out = append(out, line[i:i+n]...)
		}
		i += n
	}
	end := ""
	if open {
		end = transcript.LinkEnd
	}
	if out == nil {
		return line + end
	}
	return string(out) + end
}

// sgrLength returns the length of the SGR sequence at the start of s, or 0.
func sgrLength(s string) int {
	if len(s) < 3 || s[0] != 0x1b || s[1] != '[' {
		return 0
	}
	for i := 2; i < len(s); i++ {
		switch b := s[i]; {
		case b == 'm':
			return i + 1
		case b != ';' && b != ':' && (b < '0' || b > '9'):
			return 0
		}
	}
	return 0
}

// Frame joins lines cut to width x height cells. It sanitizes every line: it is the last step
// before the terminal, so no other control sequence reaches it. It changes lines.
func (s *Styles) Frame(lines []string, width, height int) string {
	lines = lines[:min(len(lines), height)]
	for i, line := range lines {
		line = Sanitize(line)
		if len(line) > width && transcript.Width(line) > width {
			line = ansi.Truncate(line, width, "")
		}
		if !s.GraphemeWidths {
			line = firstRunes(line)
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}

// StartsWithRule reports whether the first cell of a line is part of a horizontal line.
func StartsWithRule(line string) bool {
	for n := sgrLength(line); n > 0; n = sgrLength(line) {
		line = line[n:]
	}
	return strings.HasPrefix(line, "─")
}

// EndsWithRule reports whether the last cell of a line is part of a horizontal line.
func EndsWithRule(line string) bool {
	for strings.HasSuffix(line, "m") {
		at := max(0, strings.LastIndexByte(line, 0x1b))
		if sgrLength(line[at:]) != len(line)-at {
			break
		}
		line = line[:at]
	}
	return strings.HasSuffix(line, "─")
}
