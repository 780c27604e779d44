package acp

import (
	"bytes"
	"encoding/json"
)

// eachField calls f for the name and the value of each field of an object, which must be valid
// JSON, until f returns false. It returns false then, and for an object with spaces between the
// fields, with a name twice, and with more fields than updates have.
func eachField(object []byte, f func(name, value []byte) bool) bool {
	var names [16][]byte
	rest, ok := bytes.CutPrefix(object, []byte(`{"`))
	if !ok {
		return false
	}
	for n := range names {
		var value []byte
		if names[n], rest, ok = cutName(rest); !ok {
			return false
		}
		for _, earlier := range names[:n] {
			if bytes.Equal(earlier, names[n]) {
				return false
			}
		}
		if rest, ok = bytes.CutPrefix(rest, []byte(`:`)); !ok {
			return false
		}
		if value, rest, ok = cutValue(rest); !ok || !f(names[n], value) {
			return false
		}
		if len(rest) == 1 {
			return rest[0] == '}'
		}
		if rest, ok = bytes.CutPrefix(rest, []byte(`,"`)); !ok {
			return false
		}
	}
	return false
}

// cutValue cuts the value at the start of b, which is within valid JSON. It returns false if there
// is a space before it.
func cutValue(b []byte) (value, rest []byte, ok bool) {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			n := stringEnd(b[i+1:])
			if n < 0 {
				return nil, nil, false
			}
			i += 1 + n
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ' ', '\t', '\r', '\n', ',':
			if depth == 0 {
				return nil, nil, false
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
			return b[:i+1], b[i+1:], depth == 0
		}
	}
	return nil, nil, false
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
