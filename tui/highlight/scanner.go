package highlight

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Scanner splits the lines of one text into tokens, in order. A copy of it can scan ahead. The zero
// value finds no tokens.
type Scanner struct {
	lang  *Language
	open  *span // left open by the last line, or nil
	depth int   // nesting of the open span
	inTag bool  // in markup: the last line left a tag open
}

// Scan appends the tokens of the next line to out, in order and without overlap. The line must not
// contain a newline.
func (s *Scanner) Scan(line string, out []Token) []Token {
	if s.lang == nil {
		return out
	}
	s.lang.once.Do(s.lang.buildTables)
	if s.lang.scanLine != nil {
		return s.lang.scanLine(s, line, out)
	}
	return s.scanTables(line, 0, out)
}

// scanTables scans line[i:] by the tables of the language.
func (s *Scanner) scanTables(line string, i int, out []Token) []Token {
	l := s.lang
	if s.open != nil {
		from, kind := i, s.open.kind
		if i = s.spanEnd(line, i); i > from {
			out = append(out, Token{from, i, kind})
		}
		if s.open != nil {
			return out
		}
	}
	blank := strings.TrimLeft(line[i:], " \t") == line[i:] && i == 0
	var unclosed uint64 // bit set of spans not closed on this line, so that each is searched once
	for i < len(line) {
		c := line[i]
		if l.spanStarts[c] {
			if at := l.spanAt(line, i, unclosed); at >= 0 {
				sp := &l.spans[at]
				end := s.openSpan(line, i, sp)
				if end < 0 {
					if !sp.char {
						unclosed |= 1 << at
					}
					i += len(sp.open)
					continue
				}
				kind := sp.kind
				if kind == String && l.colonKeys && isKey(line, end) {
					kind = Key
				}
				out = append(out, Token{i, end, kind})
				i = end
				continue
			}
		}
		switch {
		case c == ' ' || c == '\t':
			i++
		case c >= '0' && c <= '9':
			end := numberEnd(line, i)
			out = append(out, Token{i, end, Number})
			i = end
		case l.isWordStart(line, i):
			end := l.wordEnd(line, i)
			if kind := l.classify(line, i, end, blank && len(out) == 0); kind != Plain {
				out = append(out, Token{i, end, kind})
			}
			i = end
		default:
			i++
		}
	}
	return out
}

// openSpan returns the end of the span that opens at i, or -1 if the span is not closed and cannot
// continue on the next line. A span that continues becomes s.open.
func (s *Scanner) openSpan(line string, i int, sp *span) int {
	n := len(sp.open)
	if sp.close == "" {
		return len(line)
	}
	if sp.char {
		return charEnd(line, i, n)
	}
	s.open, s.depth = sp, 1
	end := s.spanEnd(line, i+n)
	if s.open != nil && !sp.multiline {
		s.open = nil
		return -1
	}
	return end
}

// spanEnd returns the end of the open span, or the end of the line if the span stays open.
func (s *Scanner) spanEnd(line string, i int) int {
	sp := s.open
	for i < len(line) {
		switch {
		case sp.escape != 0 && line[i] == sp.escape:
			i = min(i+2, len(line))
		case strings.HasPrefix(line[i:], sp.close):
			i += len(sp.close)
			if s.depth--; s.depth <= 0 {
				s.open = nil
				return i
			}
		case sp.nests && strings.HasPrefix(line[i:], sp.open):
			i += len(sp.open)
			s.depth++
		default:
			i++
		}
	}
	return i
}

// charEnd returns the end of a character literal, or -1. In these languages, a single quote can
// have other meanings.
func charEnd(line string, i, n int) int {
	rest := line[i+n:]
	if rest == "" {
		return -1
	}
	if rest[0] == '\\' {
		end := strings.IndexByte(rest[min(2, len(rest)):min(len(rest), 12)], '\'')
		if end < 0 {
			return -1
		}
		return i + n + min(2, len(rest)) + end + 1
	}
	_, size := utf8.DecodeRuneInString(rest)
	if size < len(rest) && rest[size] == '\'' && rest[0] != '\'' {
		return i + n + size + 1
	}
	return -1
}

// numberEnd returns the end of a number: digits, letters, points, and the sign of an exponent.
func numberEnd(line string, i int) int {
	hex := strings.HasPrefix(line[i:], "0x") || strings.HasPrefix(line[i:], "0X")
	for start := i; i < len(line); i++ {
		c := line[i]
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		case c == '.' && i+1 < len(line) && line[i+1] >= '0' && line[i+1] <= '9':
		case (c == '+' || c == '-') && !hex && i > start && (line[i-1] == 'e' || line[i-1] == 'E'):
		default:
			return i
		}
	}
	return i
}

// isKey reports whether a colon follows at i, so that the word before it is a key.
func isKey(line string, i int) bool {
	rest := strings.TrimLeft(line[i:], " \t")
	return strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, "::")
}

// decodeLetter returns the size of the rune at i, and whether it is a letter or underscore.
func decodeLetter(line string, i int) (size int, ok bool) {
	c := line[i]
	if c < utf8.RuneSelf {
		return 1, c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
	}
	r, size := utf8.DecodeRuneInString(line[i:])
	return size, unicode.IsLetter(r)
}
