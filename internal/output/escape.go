package output

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"agentctl/internal/safetext"
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
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
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

// controls reports whether a rune of JSON controls a terminal. The newline ends the line.
func controls(r rune) bool { return r != '\n' && safetext.IsControl(r) }

// plainWord is a word that a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// ShellWord returns a word as it is typed in a POSIX shell.
func ShellWord(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
