package requestcases

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"agentctl/tui/transcript"
)

// Missing returns the texts of the case that a shown text lacks. Line breaks, indentation and the
// escapes of JSON in JSON do not count; invisible characters count in the form in which users see
// them. A visible character may be shown as its code point.
func (c *Case) Missing(shown string) (missing []string) {
	have := squash(codePoint.ReplaceAllStringFunc(shown, func(mark string) string {
		n, _ := strconv.ParseUint(codePoint.FindStringSubmatch(mark)[1], 16, 32)
		if char := string(rune(n)); transcript.Reveal(char) == char {
			return char
		}
		return mark
	}))
	for _, want := range c.Shows {
		if !strings.Contains(have, squash(transcript.Reveal(strings.ToValidUTF8(want, "\uFFFD")))) {
			missing = append(missing, want)
		}
	}
	return missing
}

// codePoint matches a character that is shown as its code point.
var codePoint = regexp.MustCompile(`‹U\+([0-9A-F]{4,6})›`)

// blanks matches the count of white space that is left out.
var blanks = regexp.MustCompile(`‹\d+ (?:spaces|tabs|blank lines)›`)

// squash removes white space, what stands for it, and backslashes.
func squash(s string) string {
	s = blanks.ReplaceAllString(s, "")
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '␊' || r == '⏎' || r == '␉' || r == '\\' {
			return -1
		}
		return r
	}, s)
}
