package protocol

import (
	"bytes"
	"encoding/json"
	"math/bits"
	"strings"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// AppendString appends s as a JSON string. It replaces each byte that is not UTF-8 with U+FFFD.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := plainBytes(s); i < len(s); i += plainBytes(s[i:]) {
		c := s[i]
		if c < utf8.RuneSelf {
			dst = append(dst, s[start:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\n':
				dst = append(dst, '\\', 'n')
			case '\r':
				dst = append(dst, '\\', 'r')
			case '\t':
				dst = append(dst, '\\', 't')
			default:
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			start = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029' {
			dst = append(dst, s[start:i]...)
			switch r {
			case '\u2028':
				dst = append(dst, `\u2028`...)
			case '\u2029':
				dst = append(dst, `\u2029`...)
			default:
				dst = append(dst, "\uFFFD"...)
			}
			i += size
			start = i
			continue
		}
		i += size
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// plainBytes returns the number of bytes at the start of s that are ASCII and need no escape. It
// looks at eight at a time.
func plainBytes(s string) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	n := 0
	for ; len(s)-n >= 8; n += 8 {
		b := s[n : n+8]
		w := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		// The lowest bit that is set is in the first byte that is not ASCII, below a space, a
		// quote or a backslash. A borrow sets bits of later bytes only.
		control, quote, backslash := w-' '*ones, (w^'"'*ones)-ones, (w^'\\'*ones)-ones
		found := (w | control | quote | backslash) & high
		if found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for n < len(s) && s[n] >= ' ' && s[n] < utf8.RuneSelf && s[n] != '"' && s[n] != '\\' {
		n++
	}
	return n
}

// ValidText replaces each run of bytes that are not UTF-8 with U+FFFD.
func ValidText(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// SplitText splits s into pieces of at most limit bytes, at rune boundaries. limit is at least
// utf8.UTFMax.
func SplitText(s string, limit int) []string {
	if len(s) <= limit {
		return []string{s}
	}
	var pieces []string
	for len(s) > limit {
		cut := limit
		for cut > limit-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
			cut--
		}
		if !utf8.RuneStart(s[cut]) { // not UTF-8
			cut = limit
		}
		pieces = append(pieces, s[:cut])
		s = s[cut:]
	}
	return append(pieces, s)
}

// Encode encodes v in the form of the log: compact, valid UTF-8, without HTML escapes.
func Encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// MustEncode is Encode for types of this package, which always encode. It panics on an error.
func MustEncode(v any) json.RawMessage {
	b, err := Encode(v)
	if err != nil {
		panic("protocol: encode: " + err.Error())
	}
	return b
}

// Compact returns foreign JSON in the form of the log: compact, valid UTF-8. ok is false if raw is
// not JSON.
func Compact(raw []byte) (_ json.RawMessage, ok bool) {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return nil, false
	}
	return b.Bytes(), true
}
