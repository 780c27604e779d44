package history

import (
	"strings"
	"unicode/utf8"

	"agentctl/protocol"
)

const (
	snippetLead = 40  // bytes before the first match
	snippetSize = 160 // bytes
)

// snippet returns one line of the text around the query's first match, and the matches in that
// line.
func snippet(q *protocol.Query, text string) (string, []protocol.Span) {
	first := q.Index(text)
	from := max(0, first-snippetLead)
	for from < first && !utf8.RuneStart(text[from]) {
		from++
	}
	to := min(len(text), from+snippetSize)
	for to > from && to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	line := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text[from:to])
	matches := q.Spans(line)
	if matches == nil {
		matches = []protocol.Span{} // the match is longer than the line
	}
	return line, matches
}
