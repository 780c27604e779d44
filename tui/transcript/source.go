package transcript

import (
	"strings"

	"agentctl/tui/code"
)

// source lays out code in a language, line after line.
type source struct {
	known   bool // the language
	scanner code.Scanner
}

func newSource(language string) source {
	l := code.Named(language)
	return source{l != nil, l.Scanner()}
}

// lay is the next line of code: its columns matter, so it breaks anywhere. In a
// language that is not known all of it looks alike.
func (s *source) lay(line string, width int) []string {
	line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")
	r := &Run{}
	if s.known {
		r.Code(line, s.scanner.Line(line, nil), 0)
	} else {
		r.Add(line, Code)
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
	code.Comment: Faint,
	code.String:  Green,
	code.Number:  Cyan,
	code.Keyword: Magenta,
	code.Type:    Yellow,
	code.Name:    Blue,
	code.Key:     Blue,
	code.Meta:    Yellow,
	code.Heading: Strong,
	code.Added:   Added,
	code.Removed: Removed,
}

// NewCode is a closed text of code in its language's colours.
func NewCode(l *code.Language, s string) *Text {
	t := &Text{pre: true}
	scanner := l.Scanner()
	for line := range strings.SplitSeq(strings.TrimSuffix(Clean(s), "\n"), "\n") {
		r := &Run{}
		r.Code(line, scanner.Line(line, nil), 0)
		t.src.WriteString(r.marked() + "\n")
		t.breaks++
	}
	return t
}
