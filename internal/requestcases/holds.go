package requestcases

import (
	"strings"
	"unicode"

	"agentctl/tui/transcript"
)

// Missing returns the texts of the case that a shown text lacks. Line breaks, indentation and the
// escapes of JSON in JSON do not count; invisible characters count in the form in which users see
// them.
func (c *Case) Missing(shown string) (missing []string) {
	have := squash(shown)
	for _, want := range c.Shows {
		if !strings.Contains(have, squash(transcript.Reveal(strings.ToValidUTF8(want, "\uFFFD")))) {
			missing = append(missing, want)
		}
	}
	return missing
}

// squash removes white space, symbols that stand for it, and backslashes.
func squash(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '␊' || r == '␉' || r == '\\' {
			return -1
		}
		return r
	}, s)
}
