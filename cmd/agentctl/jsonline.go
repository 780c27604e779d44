package main

import (
	"bytes"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// An escapeWriter writes JSON that means the same and holds no rune that steers a terminal. JSON itself escapes what is below
// U+0020; what is above it may hold as it is.
type escapeWriter struct{ w io.Writer }

// Write takes whole lines.
func (e escapeWriter) Write(line []byte) (int, error) {
	if bytes.IndexFunc(line, steers) < 0 {
		return e.w.Write(line)
	}
	out := make([]byte, 0, len(line)+16)
	for rest := line; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if steers(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = append(out, rest[:size]...)
		}
		rest = rest[size:]
	}
	if _, err := e.w.Write(out); err != nil {
		return 0, err
	}
	return len(line), nil
}

// steers tells the runes above U+0020 that a terminal obeys: DEL, C1 and those that change the direction of text.
func steers(r rune) bool { return r >= 0x7f && r < 0xa0 || unicode.Is(unicode.Bidi_Control, r) }

// data returns stdout for programs: as it is, unless a terminal reads it.
func (a *app) data() io.Writer {
	if isTerminal(a.stdout) {
		return escapeWriter{a.stdout}
	}
	return a.stdout
}
