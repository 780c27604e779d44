package highlight

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Scanner cuts the lines of one text into tokens, one after the other. A copy
// looks ahead without moving it. The zero value finds nothing.
type Scanner struct {
	lang *Language
	open *span // that the last line did not close
	deep int   // how often, where it nests
	tag  bool  // in markup: the last line left a tag open
	cost int   // places looked at so far
}

// Scan is the tokens of the next line, in order and without overlap, appended
// to out. The line has no line break.
func (s *Scanner) Scan(line string, out []Token) []Token {
	if s.lang == nil {
		return out
	}
	s.lang.once.Do(s.lang.prepare)
	if s.lang.line != nil {
		return s.lang.line(s, line, out)
	}
	return s.scanTables(line, 0, out)
}

// scanTables cuts line[i:] by the tables of the language.
func (s *Scanner) scanTables(line string, i int, out []Token) []Token {
	l := s.lang
	if s.open != nil {
		from, kind := i, s.open.kind
		if i = s.closing(line, i); i > from {
			out = append(out, Token{from, i, kind})
		}
		if s.open != nil {
			return out
		}
	}
	blank := strings.TrimLeft(line[i:], " \t") == line[i:] && i == 0
	var never uint64 // the spans that nothing on this line closes: looked for once
	for i < len(line) {
		s.cost++
		c := line[i]
		if l.starts[c] {
			if at := l.opens(line, i, never); at >= 0 {
				sp := &l.spans[at]
				end := s.enter(line, i, sp)
				if end < 0 {
					if !sp.short {
						never |= 1 << at
					}
					i += len(sp.open)
					continue
				}
				kind := sp.kind
				if kind == String && l.keyed && isKey(line, end) {
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
			end := number(line, i)
			out = append(out, Token{i, end, Number})
			i = end
		case l.starting(line, i):
			end := l.word(line, i)
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

// enter gives the end of the span that opens at i, and remembers it when it goes
// on behind the line. It is -1 when there is no such span: most are closed on
// their line, or are none.
func (s *Scanner) enter(line string, i int, sp *span) int {
	n := len(sp.open)
	if sp.close == "" {
		return len(line)
	}
	if sp.short {
		return short(line, i, n)
	}
	s.open, s.deep = sp, 1
	end := s.closing(line, i+n)
	if s.open != nil && !sp.many {
		s.open = nil
		return -1
	}
	return end
}

// closing is the end of the open span in line, which is the line's when it
// stays open.
func (s *Scanner) closing(line string, i int) int {
	sp := s.open
	for i < len(line) {
		s.cost++
		switch {
		case sp.escape != 0 && line[i] == sp.escape:
			i = min(i+2, len(line))
		case strings.HasPrefix(line[i:], sp.close):
			i += len(sp.close)
			if s.deep--; s.deep <= 0 {
				s.open = nil
				return i
			}
		case sp.nests && strings.HasPrefix(line[i:], sp.open):
			i += len(sp.open)
			s.deep++
		default:
			i++
		}
	}
	return i
}

// short is the end of a character in quotes, or -1: a quote alone is something
// else in these languages.
func short(line string, i, n int) int {
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

// number is the end of a number: digits, letters, points, and the sign of an
// exponent.
func number(line string, i int) int {
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

// isKey tells that what ended before i is the key of a value.
func isKey(line string, i int) bool {
	rest := strings.TrimLeft(line[i:], " \t")
	return strings.HasPrefix(rest, ":") && !strings.HasPrefix(rest, "::")
}

func letter(line string, i int) (size int, ok bool) {
	c := line[i]
	if c < utf8.RuneSelf {
		return 1, c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
	}
	r, size := utf8.DecodeRuneInString(line[i:])
	return size, unicode.IsLetter(r)
}
