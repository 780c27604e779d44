package transcript

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"agentctl/internal/safetext"
)

// Reveal makes untrusted text safe to draw without hiding anything. It replaces each character that
// Clean removes, and other invisible ones, by a visible form. Use it for text that a user decides
// on.
func Reveal(s string) string {
	if isClean(s) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	var written, before rune // r and the rune before it, as written; 0 for a replaced one
	for i, r := range s {
		written, before = r, written
		switch {
		case r == '\n' || r == '\t':
			out.WriteRune(r)
		case r < 0x20:
			out.WriteRune('\u2400' + r)
		case r == 0x7f:
			out.WriteRune('\u2421')
		case r == '\ufe0f' && isEmojiPart(before),
			r == '\u200d' && (isEmojiPart(before) || before == '\ufe0f') && isEmojiPart(secondRune(s[i:])):
			out.WriteRune(r) // part of an emoji
		case safetext.IsInvisible(r):
			out.WriteString("‹U+")
			const hex = "0123456789ABCDEF"
			for shift := 20; shift >= 0; shift -= 4 {
				if digit := r >> shift & 15; digit != 0 || shift < 16 || r > 0xfffff {
					out.WriteByte(hex[digit])
				}
			}
			out.WriteString("›")
			written = 0
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// isEmojiPart reports whether r can be a part of an emoji, such as a skin tone modifier.
func isEmojiPart(r rune) bool {
	return r >= '\u2190' && r != utf8.RuneError && unicode.In(r, unicode.So, unicode.Sk)
}

// secondRune returns the second rune of s, or RuneError.
func secondRune(s string) rune {
	_, n := utf8.DecodeRuneInString(s)
	r, _ := utf8.DecodeRuneInString(s[n:])
	return r
}
