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
	r := &run{}
	if s.known {
		r.colour(line, s.scanner.Line(line, nil), 0)
	} else {
		r.style = Code
		r.write(line)
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

// colour writes a line with its tokens in their styles, all over another one.
func (r *run) colour(line string, tokens []code.Token, over Style) {
	at := 0
	for _, t := range tokens {
		r.style = over
		r.write(line[at:t.From])
		r.style = over | styleOf[t.Kind]
		r.write(line[t.From:t.To])
		at = t.To
	}
	r.style = over
	r.write(line[at:])
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
