package transcript

import (
	"strings"

	"agentctl/tui/highlight"
)

// codeLayout lays out code in a language, line after line.
type codeLayout struct {
	known   bool // the language
	scanner highlight.Scanner
}

func newCodeLayout(language string) codeLayout {
	l := highlight.ByName(language)
	return codeLayout{l != nil, l.NewScanner()}
}

// wrap is the next line of code: its columns matter, so it breaks anywhere. In a
// language that is not known all of it looks alike.
func (s *codeLayout) wrap(line string, width int) []string {
	line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")
	r := &StyledText{}
	if s.known {
		r.AppendCode(line, s.scanner.Scan(line, nil), 0)
	} else {
		r.Append(line, Code)
	}
	return r.wrap(width, breakAnywhere)
}

// wrapIndented is lay with a margin.
func (s *codeLayout) wrapIndented(line string, width int) []string {
	out := s.wrap(line, width-2)
	for i := range out {
		if width > 2 && out[i] != "" {
			out[i] = "  " + out[i]
		}
	}
	return out
}

var tokenStyles = [...]Style{
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
	t := &Text{preformatted: true}
	scanner := l.NewScanner()
	for line := range strings.SplitSeq(strings.TrimSuffix(Clean(s), "\n"), "\n") {
		r := &StyledText{}
		r.AppendCode(line, scanner.Scan(line, nil), 0)
		t.src.WriteString(r.marked() + "\n")
		t.newlines++
	}
	return t
}
