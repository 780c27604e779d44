package transcript

import (
	"strings"

	"agentctl/tui/highlight"
)

// source lays out code in a language, line after line.
type source struct {
	known   bool // the language
	scanner highlight.Scanner
}

func newSource(language string) source {
	l := highlight.ByName(language)
	return source{l != nil, l.NewScanner()}
}

// lay is the next line of code: its columns matter, so it breaks anywhere. In a
// language that is not known all of it looks alike.
func (s *source) lay(line string, width int) []string {
	line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")
	r := &StyledText{}
	if s.known {
		r.AppendCode(line, s.scanner.Scan(line, nil), 0)
	} else {
		r.Append(line, Code)
	}
	return r.flow(width, anywhere)
}

// fenced is lay with a margin.
func (s *source) fenced(line string, width int) []string {
	out := s.lay(line, width-2)
	for i := range out {
		if width > 2 && out[i] != "" {
			out[i] = "  " + out[i]
		}
	}
	return out
}

var styleOf = [...]Style{
	highlight.Comment: Faint,
	highlight.String:  Green,
	highlight.Number:  Cyan,
	highlight.Keyword: Magenta,
	highlight.Type:    Yellow,
	highlight.Name:    Blue,
	highlight.Key:     Blue,
	highlight.Meta:    Yellow,
	highlight.Heading: Strong,
	highlight.Added:   Added,
	highlight.Removed: Removed,
}

// NewCode is a closed text of code in its language's colours.
func NewCode(l *highlight.Language, s string) *Text {
	t := &Text{pre: true}
	scanner := l.NewScanner()
	for line := range strings.SplitSeq(strings.TrimSuffix(Clean(s), "\n"), "\n") {
		r := &StyledText{}
		r.AppendCode(line, scanner.Scan(line, nil), 0)
		t.src.WriteString(r.marked() + "\n")
		t.breaks++
	}
	return t
}
