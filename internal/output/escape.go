package output

import (
	"bytes"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// An EscapeWriter writes JSON and escapes the runes in it that control a terminal. The value of the
// JSON stays the same. JSON itself escapes everything below U+0020.
type EscapeWriter struct{ W io.Writer }

// Write takes whole lines.
func (e EscapeWriter) Write(line []byte) (int, error) {
	if bytes.IndexFunc(line, controls) < 0 {
		return e.W.Write(line)
	}
	out := make([]byte, 0, len(line)+16)
	for rest := line; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if controls(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = append(out, rest[:size]...)
		}
		rest = rest[size:]
	}
	if _, err := e.W.Write(out); err != nil {
		return 0, err
	}
	return len(line), nil
}

// controls reports whether a rune above U+0020 controls a terminal: DEL, C1, and changes of text
// direction.
func controls(r rune) bool { return r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) }
