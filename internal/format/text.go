package format

import (
	"strings"
	"unicode/utf8"
)

// JoinLines returns text with runs of line breaks and tabs replaced by a space.
func JoinLines(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

// Words returns the words of a text on a line, with an ellipsis if it has more than limit runes. A
// limit of 0 means no limit.
func Words(s string, limit int) string {
	s = strings.Join(strings.Fields(s), " ")
	if limit > 0 && utf8.RuneCountInString(s) > limit {
		s = string([]rune(s)[:limit-1]) + "…"
	}
	return s
}

// Cut returns the first n bytes of a text, at most, and mark if that is not all. It cuts between
// runes.
func Cut(s string, n int, mark string) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + mark
}
