package transcript

import (
	"strings"

	"agentctl/tui/highlight"
)

// StyledText is clean text with styled spans. The zero value is empty and ready to use.
type StyledText struct {
	text  strings.Builder
	spans []span // in order, without overlap
	style Style  // of the next write
	link  string // target of the next write
}

// span is a styled or linked part of a text, from and to being byte offsets.
type span struct {
	from, to int
	style    Style
	link     string
}

// Append appends clean text in a style.
func (t *StyledText) Append(text string, style Style) {
	t.style = style
	t.write(text)
}

// AppendCode appends a line of code with highlighted tokens. All of it has the base style as well.
func (t *StyledText) AppendCode(line string, tokens []highlight.Token, base Style) {
	at := 0
	for _, token := range tokens {
		t.Append(line[at:token.From], base)
		t.Append(line[token.From:token.To], base|tokenStyles[token.Kind])
		at = token.To
	}
	t.Append(line[at:], base)
}

// appendText appends another styled text.
func (t *StyledText) appendText(o *StyledText) {
	at := t.text.Len()
	t.text.WriteString(o.text.String())
	for _, s := range o.spans {
		s.from, s.to = s.from+at, s.to+at
		t.spans = append(t.spans, s)
	}
}

// AddStyle adds a style to the bytes [from, to).
func (t *StyledText) AddStyle(from, to int, style Style) {
	var out []span
	add := func(s span) {
		if s.from < s.to {
			out = append(out, s)
		}
	}
	at := from
	for _, s := range t.spans {
		before, within, after := s, s, s
		before.to, after.from = min(s.to, from), max(s.from, to)
		within.from, within.to, within.style = max(s.from, from), min(s.to, to), s.style|style
		add(before)
		if s.to > from {
			add(span{from: at, to: min(s.from, to), style: style})
			add(within)
			at = max(at, min(s.to, to))
		}
		if s.from >= to {
			at = to
		}
		add(after)
	}
	add(span{from: at, to: to, style: style})
	t.spans = out
}

// Lines wraps the text to lines of at most width cells, breaking anywhere. The text must not
// contain newlines.
func (t *StyledText) Lines(width int) []string { return t.wrap(width, breakAnywhere) }

func (t *StyledText) write(s string) {
	from := t.text.Len()
	t.text.WriteString(s)
	if t.style == 0 && t.link == "" || s == "" {
		return
	}
	if n := len(t.spans); n > 0 {
		last := &t.spans[n-1]
		if last.to == from && last.style == t.style && last.link == t.link {
			last.to += len(s)
			return
		}
	}
	t.spans = append(t.spans, span{from, from + len(s), t.style, t.link})
}

// marked returns the text with style marks.
func (t *StyledText) marked() string { return markSpans(t.text.String(), 0, t.text.Len(), t.spans) }

// wrap wraps the text to lines of at most width cells.
func (t *StyledText) wrap(width int, mode breakMode) []string {
	var out []string
	all, done := t.text.String(), 0
	next := t.spans
	breaker := lineBreaker{max(width, 1), mode}
	for {
		line, _, more := strings.Cut(all[done:], "\n")
		starts := breaker.lineStarts(line)
		for i, start := range starts {
			end := len(line)
			if i+1 < len(starts) {
				end = starts[i+1]
			}
			from, to := done+start, done+end
			if mode == breakAtWords {
				to = from + len(strings.TrimRight(all[from:to], " "))
			}
			for len(next) > 0 && next[0].to <= from {
				next = next[1:]
			}
			out = append(out, markSpans(all, from, to, next))
		}
		if !more {
			return out
		}
		done += len(line) + 1
	}
}

// markSpans returns all[from:to] with the style marks and links of spans.
func markSpans(all string, from, to int, spans []span) string {
	if len(spans) == 0 || spans[0].from >= to {
		return all[from:to]
	}
	var out strings.Builder
	for _, s := range spans {
		if s.from >= to {
			break
		}
		if s.from > from {
			out.WriteString(all[from:s.from])
			from = s.from
		}
		end := min(s.to, to)
		if end > from {
			out.WriteString(withLink(withMark(all[from:end], s.style), s.link))
			from = end
		}
	}
	out.WriteString(all[from:to])
	return out.String()
}

// setLink sets the link target of the next write, or none if url is unsafe.
func (t *StyledText) setLink(url string) {
	if t.link = ""; isSafeURL(url) {
		t.link = url
	}
}
