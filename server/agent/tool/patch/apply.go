package patch

import (
	"errors"
	"fmt"
	"strings"
)

// Apply returns a text with the chunks of an update applied. Unchanged lines stay as they are. A
// new line gets the line end of its place. A text without a final line end stays without one. A
// byte order mark stays, unless the patch has one. exact reports whether the text has the lines of
// the chunks as they are in the patch.
func (f *File) Apply(text string) (result string, exact bool, err error) {
	if rest, marked := strings.CutPrefix(text, byteOrderMark); marked && !f.has(byteOrderMark) {
		result, exact, err = f.apply(rest)
		return byteOrderMark + result, exact, err
	}
	return f.apply(text)
}

const byteOrderMark = "\ufeff"

// has reports whether a line of a chunk has a text.
func (f *File) has(text string) bool {
	for _, c := range f.Chunks {
		for _, l := range c.Lines {
			if strings.Contains(l.Text, text) {
				return true
			}
		}
	}
	return false
}

func (f *File) apply(text string) (result string, exact bool, err error) {
	s := newSource(text)
	var out strings.Builder
	at := 0 // lines copied
	for i := range f.Chunks {
		c := &f.Chunks[i]
		from, old, err := s.find(c, at)
		if err != nil {
			return "", false, fmt.Errorf("chunk %d of %d of %s: %w", i+1, len(f.Chunks), f.Path, err)
		}
		s.copy(&out, at, from)
		at = from
		for _, l := range c.Lines[:c.end(old)] {
			switch l.Mark {
			case '+':
				s.insert(&out, at, l.Text)
			case '-':
				at++
			default:
				s.copy(&out, at, at+1)
				at++
			}
		}
	}
	s.copy(&out, at, len(s.lines))
	return s.trimEnd(out.String()), !s.inexact, nil
}

// trimEnd removes the last line end if the source has none, and if the last line is not empty.
func (s *source) trimEnd(result string) string {
	trimmed := strings.TrimSuffix(result, s.lastEnd)
	if !s.noLastEnd || trimmed == "" || strings.HasSuffix(trimmed, "\n") {
		return result
	}
	return trimmed
}

// end returns the number of lines of a chunk that has n old lines: without an empty line at its
// end, if that was not found.
func (c *Chunk) end(n int) int {
	if n < len(c.lines('+')) {
		return len(c.Lines) - 1
	}
	return len(c.Lines)
}

// A source is a text to be patched.
type source struct {
	lines     []string   // without line ends
	ends      []string   // of the lines: "\n" or "\r\n"
	views     [][]string // the lines as each comparison sees them, once it was used
	noLastEnd bool       // the text has no line end at its end
	lastEnd   string     // the line end written last
	budget    int        // lines to compare
	inexact   bool       // lines were found that differ from the text
}

// maxCompared bounds the work to find chunks, in lines.
const maxCompared = 50_000_000

// newSource returns the lines of a text. The last one gets a line end.
func newSource(text string) *source {
	s := &source{views: make([][]string, len(comparisons)), budget: maxCompared}
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		end := "\n"
		if short, ok := strings.CutSuffix(line, "\r"); ok && ended { // without an end, it is part of the line
			line, end = short, "\r\n"
		}
		if n := len(s.ends); !ended && n > 0 {
			end = s.ends[n-1]
		}
		s.lines, s.ends = append(s.lines, line), append(s.ends, end)
		s.noLastEnd = !ended
	}
	return s
}

// copy copies lines as they are.
func (s *source) copy(out *strings.Builder, from, to int) {
	for i := from; i < to; i++ {
		out.WriteString(s.lines[i])
		out.WriteString(s.ends[i])
		s.lastEnd = s.ends[i]
	}
}

// insert adds a line before a line of the source, with the line end of the line before.
func (s *source) insert(out *strings.Builder, at int, text string) {
	s.lastEnd = "\n"
	if len(s.ends) > 0 {
		s.lastEnd = s.ends[max(0, at-1)]
	}
	out.WriteString(text)
	out.WriteString(s.lastEnd)
}

var errCostly = errors.New("the place is too costly to find: send smaller chunks with more distinct lines")

// find returns the line where a chunk begins, at or after a line, and the number of its old lines
// that were found.
func (s *source) find(c *Chunk, at int) (from, n int, err error) {
	for _, header := range c.Headers {
		i, err := s.search([]string{header}, at, false)
		if err != nil {
			return 0, 0, fmt.Errorf("the line after @@: %w", err)
		}
		at = i + 1
	}
	old := c.lines('+')
	if len(old) == 0 {
		if c.AtEnd || len(c.Headers) == 0 {
			at = len(s.lines)
		}
		return at, 0, nil
	}
	from, err = s.search(old, at, c.AtEnd)
	last := c.Lines[len(c.Lines)-1]
	if err != nil && !errors.Is(err, errCostly) && last == (Line{' ', ""}) && len(old) > 1 {
		// The empty line may stand for the end of the file.
		old = old[:len(old)-1]
		if i, again := s.search(old, at, c.AtEnd); again == nil {
			return i, len(old), nil
		}
	}
	return from, len(old), err
}

// search returns the position of lines, at or after a line: the first equal place, or else the only
// place that differs just in whitespace or typographic characters.
func (s *source) search(lines []string, at int, atEnd bool) (int, error) {
	last := len(s.lines) - len(lines)
	if atEnd {
		at = max(at, last)
	}
	for pass, normalize := range comparisons {
		want := make([]string, len(lines))
		for i, line := range lines {
			want[i] = normalize(line)
		}
		view := s.view(pass)
		found := -1
		for i := at; i <= last; i++ {
			equal, err := s.equal(view[i:], want)
			switch {
			case err != nil:
				return 0, err
			case equal && pass == 0:
				return i, nil
			case equal && found >= 0:
				return 0, fmt.Errorf("the lines match at line %d and at line %d, and at none exactly:\n%s",
					found+1, i+1, shown(lines))
			case equal:
				found = i
			}
		}
		if found >= 0 {
			s.inexact = true
			return found, nil
		}
	}
	return 0, fmt.Errorf("the file does not have these lines after line %d:\n%s", at, shown(lines))
}

func (s *source) equal(view, want []string) (bool, error) {
	for i, line := range want {
		if s.budget--; s.budget < 0 {
			return false, errCostly
		}
		if view[i] != line {
			return false, nil
		}
	}
	return true, nil
}

// view returns the lines as a comparison sees them.
func (s *source) view(pass int) []string {
	if s.views[pass] == nil {
		view := make([]string, len(s.lines))
		for i, line := range s.lines {
			view[i] = comparisons[pass](line)
		}
		s.views[pass] = view
	}
	return s.views[pass]
}

// shown returns the first lines, for an error.
func shown(lines []string) string {
	const most = 20
	if len(lines) > most {
		lines = append(lines[:most:most], "…")
	}
	text := strings.Join(lines, "\n")
	if len(text) > 2000 {
		text = strings.ToValidUTF8(text[:2000], "") + "…"
	}
	return text
}

// comparisons are the ways to compare lines, the strictest first.
var comparisons = []func(string) string{
	func(line string) string { return line },
	func(line string) string { return strings.TrimRight(line, " \t\r") },
	strings.TrimSpace,
	func(line string) string { return strings.TrimSpace(ascii.Replace(line)) },
}

// ascii replaces typographic characters with ASCII ones.
var ascii = strings.NewReplacer(
	"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2015", "-", "\u2212", "-",
	"\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'",
	"\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u201f", `"`,
	"\u00a0", " ", "\u2002", " ", "\u2003", " ", "\u2004", " ", "\u2005", " ", "\u2006", " ", "\u2007", " ",
	"\u2008", " ", "\u2009", " ", "\u200a", " ", "\u202f", " ", "\u205f", " ", "\u3000", " ", "\ufeff", "",
)
