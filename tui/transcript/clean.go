package transcript

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"agentctl/internal/format"
	"agentctl/internal/safetext"
)

// Limits for hostile text.
const (
	maxControlSequence = 64   // runes of an unfinished control sequence
	maxControlString   = 4096 // runes of an unfinished OSC, DCS, APC, PM or SOS
	maxZeroWidth       = 12   // zero-width runes after a base rune; the rest are dropped
)

// Clean makes untrusted text safe to draw. It removes control sequences, C0 controls except newline
// and tab, DEL, C1 controls, bidirectional controls and the placeholder of images. CR and CR LF
// become a newline, invalid UTF-8 becomes U+FFFD.
func Clean(s string) string {
	var c Cleaner
	return c.Clean(s)
}

// CleanLine is Clean for a text that is drawn on one line. Newlines and tabs become a space.
func CleanLine(s string) string { return format.JoinLines(Clean(s)) }

// Cleaner cleans a text that arrives in parts. Cleaning the parts gives the same as cleaning the
// whole, if no rune is cut. The zero value is ready to use.
type Cleaner struct {
	state         cleanState
	skipped       int  // runes of the sequence being skipped
	zeroWidthLeft int  // zero-width runes that may follow; 0 without a base rune
	afterCR       bool // the last rune was a CR, written as a newline
}

// runeWriter is the destination of clean text. WriteRune must not fail.
type runeWriter interface {
	WriteRune(r rune) (int, error)
}

type cleanState uint8

const (
	inText cleanState = iota
	inEscape
	inSequence
	inString
	inStringEscape
)

// Clean cleans the next part of the text.
func (c *Cleaner) Clean(s string) string {
	if c.state == inText && !c.afterCR && isClean(s) {
		if s != "" {
			c.setBase(rune(s[len(s)-1]))
		}
		return s
	}
	var out strings.Builder
	out.Grow(len(s))
	for _, r := range s { // range yields U+FFFD for an invalid byte
		for !c.step(&out, r) {
		}
	}
	return out.String()
}

// step handles r. If it returns false, the state changed and r must be passed again.
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
	case r >= 0x20 && r < 0x30: // an intermediate byte; the final byte follows
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
	case r != '\t' && safetext.IsControl(r):
		return
	}
	// The rule is about width, not about visibility as in package safetext: it bounds accents, which are
	// drawn, and keeps the fillers of Hangul, which are not and are letters with a width.
	if r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		if c.zeroWidthLeft == 0 {
			return
		}
		c.zeroWidthLeft--
	} else {
		c.setBase(r)
	}
	_, _ = out.WriteRune(r)
}

func (c *Cleaner) setBase(r rune) {
	if c.zeroWidthLeft = maxZeroWidth; r == '\n' || r == '\t' {
		c.zeroWidthLeft = 0
	}
}

// isClean reports whether s is ASCII without controls other than newline and tab.
func isClean(s string) bool {
	for i := 0; i < len(s); i++ {
		if b := s[i]; b < 0x20 && b != '\n' && b != '\t' || b >= 0x7f {
			return false
		}
	}
	return utf8.ValidString(s)
}
