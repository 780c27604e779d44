package highlight

import "strings"

// scanSession scans a shell session. It highlights commands after a prompt, not their output.
func scanSession(s *Scanner, line string, out []Token) []Token {
	i := skipBlanks(line, 0)
	if i+1 >= len(line) || strings.IndexByte("$%#>", line[i]) < 0 || line[i+1] != ' ' {
		return out
	}
	out = s.scanTables(line, i+2, append(out, Token{i, i + 1, Meta}))
	s.open = nil
	return out
}

// scanYAML finds keys and scans values by the tables.
func scanYAML(s *Scanner, line string, out []Token) []Token {
	if s.open != nil {
		return s.scanTables(line, 0, out)
	}
	i := skipBlanks(line, 0)
	for strings.HasPrefix(line[i:], "- ") {
		i = skipBlanks(line, i+2)
	}
	if strings.HasPrefix(line[i:], "---") || strings.HasPrefix(line[i:], "...") {
		return append(out, Token{i, len(line), Meta})
	}
	if i < len(line) && line[i] != '#' && line[i] != '{' && line[i] != '[' {
		n := strings.Index(line[i:], ":")
		if n > 0 && (i+n+1 == len(line) || line[i+n+1] == ' ') && !strings.Contains(line[i:i+n], " #") {
			out = append(out, Token{i, i + n, Key})
			i += n + 1
		}
	}
	return s.scanValues(line, i, out)
}

// scanINI finds sections and keys, and scans values by the tables.
func scanINI(s *Scanner, line string, out []Token) []Token {
	if s.open != nil {
		return s.scanTables(line, 0, out)
	}
	i := skipBlanks(line, 0)
	if i < len(line) && line[i] == '[' {
		if end := strings.LastIndexByte(line, ']'); end > i {
			out = append(out, Token{i, end + 1, Heading})
			return s.scanValues(line, end+1, out)
		}
	}
	if n := strings.IndexByte(line[i:], '='); n > 0 && line[i] != '#' && line[i] != ';' {
		if key := strings.TrimRight(line[i:i+n], " \t"); key != "" && line[i] != '"' && line[i] != '\'' {
			out = append(out, Token{i, i + len(key), Key})
			i += n + 1
		}
	}
	return s.scanValues(line, i, out)
}

// scanValues is scanTables without numbers at the start of words such as 1.2.3 or 2024-01-01.
func (s *Scanner) scanValues(line string, i int, out []Token) []Token {
	from := len(out)
	out = s.scanTables(line, i, out)
	kept := out[:from]
	for _, t := range out[from:] {
		endsWithin := t.To < len(line) && strings.IndexByte(" \t,]}", line[t.To]) < 0
		startsWithin := t.From > 0 && strings.IndexByte(" \t,[{:=", line[t.From-1]) < 0
		if t.Kind == Number && (endsWithin || startsWithin) {
			continue
		}
		kept = append(kept, t)
	}
	return kept
}

// scanMarkup finds tags, attributes and comments.
func scanMarkup(s *Scanner, line string, out []Token) []Token {
	for i := 0; i < len(line); {
		if s.open != nil {
			from := i
			if i = s.spanEnd(line, i); i > from {
				out = append(out, Token{from, i, Comment})
			}
			continue
		}
		if !s.inTag {
			n := strings.IndexByte(line[i:], '<')
			if n < 0 {
				return out
			}
			i += n
			if strings.HasPrefix(line[i:], "<!--") {
				s.open, s.depth = &s.lang.spans[0], 1
				continue
			}
			end := i + 1
			closes := end < len(line) && line[end] == '/'
			for end < len(line) && strings.IndexByte(" \t/>", line[end]) < 0 || end == i+1 && closes {
				end++
			}
			if end == i+1 {
				i++
				continue
			}
			out = append(out, Token{i, end, Keyword})
			s.inTag, i = true, end
			continue
		}
		switch c := line[i]; {
		case c == '>' || c == '/' && i+1 < len(line) && line[i+1] == '>':
			n := strings.IndexByte(line[i:], '>') + 1
			out = append(out, Token{i, i + n, Keyword})
			s.inTag, i = false, i+n
		case c == '"' || c == '\'':
			end := strings.IndexByte(line[i+1:], c)
			if end < 0 {
				end = len(line) - i - 2
			}
			out = append(out, Token{i, i + end + 2, String})
			i += end + 2
		case isLetter(line, i):
			end := i
			for end < len(line) && strings.IndexByte(" \t=>/\"'", line[end]) < 0 {
				end++
			}
			out = append(out, Token{i, end, Key})
			i = end
		default:
			i++
		}
	}
	return out
}

// scanMarkdown finds headings, bullets, quotes, fences and code spans.
func scanMarkdown(_ *Scanner, line string, out []Token) []Token {
	i := skipBlanks(line, 0)
	if i == len(line) {
		return out
	}
	switch rest := line[i:]; {
	case rest[0] == '#':
		return append(out, Token{i, len(line), Heading})
	case rest[0] == '>':
		return append(out, Token{i, len(line), Comment})
	case strings.HasPrefix(rest, "```"), strings.HasPrefix(rest, "~~~"), strings.HasPrefix(rest, "---"):
		return append(out, Token{i, len(line), Meta})
	case strings.HasPrefix(rest, "- "), strings.HasPrefix(rest, "* "), strings.HasPrefix(rest, "+ "):
		out = append(out, Token{i, i + 1, Keyword})
		i += 2
	}
	for {
		n := strings.IndexByte(line[i:], '`')
		if n < 0 {
			return out
		}
		end := strings.IndexByte(line[i+n+1:], '`')
		if end < 0 {
			return out
		}
		out = append(out, Token{i + n, i + n + end + 2, String})
		i += n + end + 2
	}
}

// scanDiff classifies a line by its first characters.
func scanDiff(_ *Scanner, line string, out []Token) []Token {
	var kind Kind
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"),
		strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "*** "):
		kind = Heading
	case strings.HasPrefix(line, "+"):
		kind = Added
	case strings.HasPrefix(line, "-"):
		kind = Removed
	case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "index "):
		kind = Comment
	default:
		return out
	}
	return append(out, Token{0, len(line), kind})
}

// skipBlanks returns the index of the first byte from i on that is not blank.
func skipBlanks(line string, i int) int {
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	return i
}
