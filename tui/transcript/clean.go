package transcript

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits on what a hostile text can hide or pile up.
const (
	maxControlSequence = 64   // bytes of parameters before an unfinished sequence is given up
	maxControlString   = 4096 // runes of an unfinished OSC, DCS, APC, PM or SOS
	maxMarks           = 12   // zero-width runes in a row; more, or some without a base, are dropped
)

// Clean makes untrusted text safe to draw: whole control sequences, C0 except
// newline and tab, DEL, C1 and bidirectional overrides are gone, a lone CR and
// CR LF are a newline, invalid UTF-8 is U+FFFD.
func Clean(s string) string {
	var c Cleaner
	return c.Clean(s)
}

// Cleaner is Clean for a text that arrives in pieces: cleaning the pieces gives
// what cleaning the whole gives, as long as no rune is cut. The zero value is ready.
type Cleaner struct {
	state     cleanState
	skipped   int  // runes consumed by the sequence being skipped
	marksLeft int  // zero-width runes that may follow: none without a base
	afterCR   bool // the last rune was a CR, given out as a newline
}

// runeWriter take clean text.
type runeWriter interface {
	WriteRune(r rune) (int, error) // never fails
}

type cleanState uint8

const (
	inText cleanState = iota
	inEscape
	inSequence
	inString
	inStringEscape
)

// Clean returns the drawable part of the next piece.
func (c *Cleaner) Clean(s string) string {
	if c.state == inText && !c.afterCR && isPlain(s) {
		if s != "" {
			c.setBase(rune(s[len(s)-1]))
		}
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	for _, r := range s { // an invalid byte comes as U+FFFD
		for !c.step(&out, r) {
		}
	}
	return out.String()
}

// step consumes r, or changes the state and wants r again.
func (c *Cleaner) step(out runeWriter, r rune) bool {
	switch c.state {
	case inEscape:
		return c.escapeRune(r)
	case inSequence:
		c.skipped++
		switch {
		case r >= 0x40 && r <= 0x7e:
			c.state = inText
			return true
		case r >= 0x20 && r < 0x40 && c.skipped < maxControlSequence:
			return true
		}
		c.state = inText
		return false
	case inString:
		c.skipped++
		switch {
		case r == 0x07 || r == 0x9c:
			c.state = inText
			return true
		case r == 0x1b:
			c.state = inStringEscape
			return true
		case r == '\n' || r == '\r' || c.skipped > maxControlString:
			c.state = inText
			return false
		}
		return true
	case inStringEscape:
		if r == '\\' {
			c.state = inText
			return true
		}
		c.state = inEscape
		return false
	default:
		c.textRune(out, r)
		return true
	}
}

func (c *Cleaner) escapeRune(r rune) bool {
	switch {
	case r == '[':
		c.state, c.skipped = inSequence, 0
	case r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_':
		c.state, c.skipped = inString, 0
	case r >= 0x20 && r < 0x30: // an intermediate: the final byte follows
	case r >= 0x30 && r < 0x7f:
		c.state = inText
	case r == 0x1b:
	default:
		c.state = inText
		return false
	}
	return true
}

func (c *Cleaner) textRune(out runeWriter, r rune) {
	afterCR := c.afterCR
	c.afterCR = false
	switch {
	case r == '\n':
		if afterCR {
			return
		}
	case r == '\r':
		c.afterCR = true
		r = '\n'
	case r == 0x1b:
		c.state = inEscape
		return
	case r == 0x9b:
		c.state, c.skipped = inSequence, 0
		return
	case r == 0x90 || r == 0x98 || r == 0x9d || r == 0x9e || r == 0x9f:
		c.state, c.skipped = inString, 0
		return
	case r == '\u2028' || r == '\u2029':
		r = '\n'
	case r != '\t' && isControl(r):
		return
	}
	if r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		if c.marksLeft == 0 {
			return
		}
		c.marksLeft--
	} else {
		c.setBase(r)
	}
	_, _ = out.WriteRune(r)
}

func (c *Cleaner) setBase(r rune) {
	if c.marksLeft = maxMarks; r == '\n' || r == '\t' {
		c.marksLeft = 0
	}
}

// Reveal makes untrusted text safe to draw and hides nothing: what Clean
// removes shows as a visible character. It is for what a person decides on.
func Reveal(s string) string {
	if isPlain(s) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	var shown, before rune // as they are: this one, unless it is hidden, and the one before it
	for i, r := range s {
		shown, before = r, shown
		switch {
		case r == '\n' || r == '\t':
			out.WriteRune(r)
		case r < 0x20:
			out.WriteRune('\u2400' + r)
		case r == 0x7f:
			out.WriteRune('\u2421')
		case r == '\ufe0f' && isEmojiPart(before), r == '\u200d' && (isEmojiPart(before) || before == '\ufe0f') && isEmojiPart(secondRune(s[i:])):
			out.WriteRune(r) // it is seen, as part of an emoji
		case isControl(r), r >= 0x300 && unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point), r == '\u2028', r == '\u2029':
			out.WriteString("‹U+")
			const hex = "0123456789ABCDEF"
			for shift := 16; shift >= 0; shift -= 4 {
				if digit := r >> shift & 15; digit != 0 || shift < 16 {
					out.WriteByte(hex[digit])
				}
			}
			out.WriteString("›")
			shown = 0
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// isEmojiPart tells what an emoji is made of, its colour of skin included.
func isEmojiPart(r rune) bool {
	return r >= '\u2190' && r != utf8.RuneError && unicode.In(r, unicode.So, unicode.Sk)
}

// secondRune is the second rune; RuneError: there is none.
func secondRune(s string) rune {
	_, n := utf8.DecodeRuneInString(s)
	r, _ := utf8.DecodeRuneInString(s[n:])
	return r
}

// isControl tells C0, DEL, C1 and the runes that reorder what is around them.
func isControl(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 ||
		r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r == '\u061c' || r == '\u200e' || r == '\u200f'
}

func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if b := s[i]; b < 0x20 && b != '\n' && b != '\t' || b >= 0x7f {
			return false
		}
	}
	return utf8.ValidString(s)
}
