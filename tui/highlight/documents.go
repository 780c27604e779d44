package highlight

import "strings"

// session is what was typed in a shell, behind its prompt, and what came of it,
// which is in no language.
func session(s *Scanner, line string, out []Token) []Token {
	i := skip(line, 0)
	if i+1 >= len(line) || strings.IndexByte("$%#>", line[i]) < 0 || line[i+1] != ' ' {
		return out
	}
	out = s.scanTables(line, i+2, append(out, Token{i, i + 1, Meta}))
	s.open = nil
	return out
}

// yaml finds keys; what follows is cut by the tables.
func yaml(s *Scanner, line string, out []Token) []Token {
	if s.open != nil {
		return s.scanTables(line, 0, out)
	}
	i := skip(line, 0)
	for strings.HasPrefix(line[i:], "- ") {
		i = skip(line, i+2)
	}
	if strings.HasPrefix(line[i:], "---") || strings.HasPrefix(line[i:], "...") {
		return append(out, Token{i, len(line), Meta})
	}
	if i < len(line) && line[i] != '#' && line[i] != '{' && line[i] != '[' {
		if n := strings.Index(line[i:], ":"); n > 0 && (i+n+1 == len(line) || line[i+n+1] == ' ') && !strings.Contains(line[i:i+n], " #") {
			out = append(out, Token{i, i + n, Key})
			i += n + 1
		}
	}
	return s.values(line, i, out)
}

// settings are keys with values, in sections.
func settings(s *Scanner, line string, out []Token) []Token {
	if s.open != nil {
		return s.scanTables(line, 0, out)
	}
	i := skip(line, 0)
	if i < len(line) && line[i] == '[' {
		if end := strings.LastIndexByte(line, ']'); end > i {
			out = append(out, Token{i, end + 1, Heading})
			return s.values(line, end+1, out)
		}
	}
	if n := strings.IndexByte(line[i:], '='); n > 0 && line[i] != '#' && line[i] != ';' {
		if key := strings.TrimRight(line[i:i+n], " \t"); key != "" && line[i] != '"' && line[i] != '\'' {
			out = append(out, Token{i, i + len(key), Key})
			i += n + 1
		}
	}
	return s.values(line, i, out)
}

// values is scan, without the number that a word such as 1.2.3 or 2024-01-01 begins with.
func (s *Scanner) values(line string, i int, out []Token) []Token {
	from := len(out)
	out = s.scanTables(line, i, out)
	kept := out[:from]
	for _, t := range out[from:] {
		if t.Kind == Number && (t.To < len(line) && strings.IndexByte(" \t,]}", line[t.To]) < 0 || t.From > 0 && strings.IndexByte(" \t,[{:=", line[t.From-1]) < 0) {
			continue
		}
		kept = append(kept, t)
	}
	return kept
}

// markup finds tags, their attributes and comments.
func markup(s *Scanner, line string, out []Token) []Token {
	for i := 0; i < len(line); {
		if s.open != nil {
			from := i
			if i = s.closing(line, i); i > from {
				out = append(out, Token{from, i, Comment})
			}
			continue
		}
		if !s.tag {
			n := strings.IndexByte(line[i:], '<')
			if n < 0 {
				return out
			}
			i += n
			if strings.HasPrefix(line[i:], "<!--") {
				s.open, s.deep = &s.lang.spans[0], 1
				continue
			}
			end := i + 1
			for end < len(line) && strings.IndexByte(" \t/>", line[end]) < 0 || end == i+1 && end < len(line) && line[end] == '/' {
				end++
			}
			if end == i+1 {
				i++
				continue
			}
			out = append(out, Token{i, end, Keyword})
			s.tag, i = true, end
			continue
		}
		switch c := line[i]; {
		case c == '>' || c == '/' && i+1 < len(line) && line[i+1] == '>':
			n := strings.IndexByte(line[i:], '>') + 1
			out = append(out, Token{i, i + n, Keyword})
			s.tag, i = false, i+n
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

// markdown finds headings, bullets and what is quoted.
func markdown(_ *Scanner, line string, out []Token) []Token {
	i := skip(line, 0)
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

// diff tells lines by their first characters.
func diff(_ *Scanner, line string, out []Token) []Token {
	var kind Kind
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "*** "):
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

// skip is where the blanks that begin at i end.
func skip(line string, i int) int {
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	return i
}
