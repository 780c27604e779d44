package acp

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// A scanner reads JSON in the form that agents send, in one pass. A method returns false for any other
// form; the rest is undefined then.
type scanner struct{ rest []byte }

// skip skips a prefix. It returns false, and changes nothing, if another text is next.
func (s *scanner) skip(prefix string) bool {
	if len(s.rest) < len(prefix) || string(s.rest[:len(prefix)]) != prefix {
		return false
	}
	s.rest = s.rest[len(prefix):]
	return true
}

// name reads the rest of a string of plain ASCII.
func (s *scanner) name(to *[]byte) bool {
	for i, c := range s.rest {
		switch {
		case c == '"':
			*to, s.rest = s.rest[:i], s.rest[i+1:]
			return true
		case c < ' ' || c > '~' || c == '\\':
			return false
		}
	}
	return false
}

// text reads the rest of a string.
func (s *scanner) text(to *string) (ok bool) {
	end := stringEnd(s.rest)
	if end < 0 || !utf8.Valid(s.rest[:end]) {
		return false
	}
	for _, c := range s.rest[:end] {
		if c < ' ' {
			return false
		}
	}
	*to, ok = unescape(s.rest[:end])
	s.rest = s.rest[end+1:]
	return ok
}

// value reads a value, which is within valid JSON. It returns false if there is a space before it.
func (s *scanner) value(to *[]byte) bool {
	depth, b := 0, s.rest
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			n := stringEnd(b[i+1:])
			if n < 0 {
				return false
			}
			i += 1 + n
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ' ', '\t', '\r', '\n', ',':
			if depth == 0 {
				return false
			}
			continue
		default: // a number, true, false or null
			if depth > 0 {
				continue
			}
			for i+1 < len(b) && b[i+1] != ',' && b[i+1] != '}' && b[i+1] != ']' {
				i++
			}
		}
		if depth <= 0 {
			*to, s.rest = b[:i+1], b[i+1:]
			return depth == 0
		}
	}
	return false
}

// eachField calls f for the name and the value of each field of an object, which must be valid
// JSON, until f returns false. It returns false then, and for an object with spaces between the
// fields, with a name twice, and with more fields than updates have.
func eachField(object []byte, f func(name, value []byte) bool) bool {
	s := scanner{object}
	var names [16][]byte
	more := s.skip(`{"`)
	for n := 0; more && n < len(names); n++ {
		var value []byte
		if !s.name(&names[n]) || !s.skip(`:`) || !s.value(&value) {
			return false
		}
		again := func(earlier []byte) bool { return bytes.Equal(earlier, names[n]) }
		if slices.ContainsFunc(names[:n], again) || !f(names[n], value) {
			return false
		}
		if string(s.rest) == `}` {
			return true
		}
		more = s.skip(`,"`)
	}
	return false
}

// stringEnd returns the offset of the quote that ends a string; -1 for none.
func stringEnd(b []byte) int {
	for i := 0; i < len(b); i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		slash := i + n
		for slash > i && b[slash-1] == '\\' {
			slash--
		}
		if i += n; (i-slash)%2 == 0 {
			return i
		}
	}
	return -1
}

// escapes are the bytes that JSON escapes with a letter.
var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// unescape returns the text of a string without its quotes. It returns false for an invalid escape.
func unescape(b []byte) (text string, ok bool) {
	n := bytes.IndexByte(b, '\\')
	if n < 0 {
		return string(b), true
	}
	out := make([]byte, 0, len(b))
	for rest := b; ; {
		out = append(out, rest[:n]...)
		if rest = rest[n+1:]; len(rest) == 0 {
			return "", false
		}
		if c := escapes[rest[0]]; c != 0 {
			out, rest = append(out, c), rest[1:]
		} else { // a number, or invalid
			quoted := append(append(append(make([]byte, 0, len(b)+2), '"'), b...), '"')
			return text, json.Unmarshal(quoted, &text) == nil
		}
		if n = bytes.IndexByte(rest, '\\'); n < 0 {
			return string(append(out, rest...)), true
		}
	}
}
