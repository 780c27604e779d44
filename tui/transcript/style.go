package transcript

import (
	"strconv"
	"strings"

	"agentctl/tui/highlight"
)

// Style says what a piece of text is, as bits and at most one hue. How that
// looks is for a Dress to say.
type Style uint32

// The styles.
const (
	Strong Style = 1 << iota
	Emphasis
	Code
	Link
	Heading
	Faint
	Added   // to a text, or before what was
	Removed // from it
	Changed // within what is added or removed
	Underline
	Reverse
	Strikethrough
)

// The hues, of which a style has one at most.
const (
	Red Style = (iota + 1) << hueShift
	Green
	Yellow
	Blue
	Magenta
	Cyan

	hueShift = 16
	hues     = 7 << hueShift
)

// Hue is the style's hue alone, or 0.
func (s Style) Hue() Style { return s & hues }

// RenderFunc gives clean text the look of its style. It adds nothing that takes room.
type RenderFunc func(text string, style Style) string

// marked is clean text with its style written around it: a sequence that only
// dresses, numbered by the style, so that whatever measures or cuts text finds no
// width in it. Clean text has no such sequence, so nobody else can write one.
func marked(text string, style Style) string {
	if style == 0 || text == "" {
		return text
	}
	return mark(style) + text + markEnd
}

const (
	markEnd = "\x1b[m"
	maxMark = 13 // bytes of a mark
)

func mark(style Style) string { return "\x1b[" + strconv.FormatUint(uint64(style), 10) + "m" }

// markAt is the mark that s begins with: its length, which is 0 for none, and
// its style.
func markAt(s string) (n int, style Style) {
	if len(s) < 3 || s[0] != 0x1b || s[1] != '[' {
		return 0, 0
	}
	for i := 2; i < len(s); i++ {
		switch c := s[i]; {
		case c == 'm':
			return i + 1, style
		case c < '0' || c > '9':
			return 0, 0
		default:
			style = style*10 + Style(c-'0')
		}
	}
	return 0, 0
}

// RenderStyles is a line with its styles dressed. A line of a Text or a Prose is to be
// dressed before it is shown, and only then: what is not on the screen costs
// nothing, and another theme needs no other layout.
func RenderStyles(line string, dress RenderFunc) string {
	at := strings.IndexByte(line, 0x1b)
	if at < 0 {
		return line
	}
	var out strings.Builder
	out.Grow(2 * len(line))
	out.WriteString(line[:at])
	style := Style(0)
	for rest := line[at:]; rest != ""; {
		if n, next := markAt(rest); n > 0 {
			style, rest = next, rest[n:]
			continue
		}
		if n, _ := LinkSequence(rest); n > 0 {
			out.WriteString(rest[:n])
			rest = rest[n:]
			continue
		}
		end := strings.IndexByte(rest[1:], 0x1b) + 1
		if end == 0 {
			end = len(rest)
		}
		if style == 0 {
			out.WriteString(rest[:end])
		} else {
			out.WriteString(dress(rest[:end], style))
		}
		rest = rest[end:]
	}
	return out.String()
}

// StripStyles is a line without its styles and links.
func StripStyles(line string) string {
	if strings.IndexByte(line, 0x1b) < 0 {
		return line
	}
	var out strings.Builder
	for line != "" {
		n, _ := markAt(line)
		if n == 0 {
			n, _ = LinkSequence(line)
		}
		if line = line[n:]; line != "" && n == 0 {
			end := max(strings.IndexByte(line[1:], 0x1b)+1, 0)
			if end == 0 {
				end = len(line)
			}
			out.WriteString(line[:end])
			line = line[end:]
		}
	}
	return out.String()
}

// StyledText is a clean text of which some stretches have a style. The zero value is empty.
type StyledText struct {
	text    strings.Builder
	stretch []stretch // in order, without overlap
	style   Style     // of what is written next
	link    string    // that it leads to
}

// Append writes text in a style.
func (r *StyledText) Append(text string, style Style) {
	r.style = style
	r.write(text)
}

// AppendCode writes a line of code, whose tokens are in their colours, over a style.
func (r *StyledText) AppendCode(line string, tokens []highlight.Token, over Style) {
	at := 0
	for _, t := range tokens {
		r.Append(line[at:t.From], over)
		r.Append(line[t.From:t.To], over|styleOf[t.Kind])
		at = t.To
	}
	r.Append(line[at:], over)
}

// join appends what another one says, as it is dressed.
func (r *StyledText) join(o *StyledText) {
	at := r.text.Len()
	r.text.WriteString(o.text.String())
	for _, s := range o.stretch {
		s.from, s.to = s.from+at, s.to+at
		r.stretch = append(r.stretch, s)
	}
}

// AddStyle adds a style to the bytes from one to another.
func (r *StyledText) AddStyle(from, to int, style Style) {
	var out []stretch
	add := func(s stretch) {
		if s.from < s.to {
			out = append(out, s)
		}
	}
	at := from
	for _, s := range r.stretch {
		before, within, after := s, s, s
		before.to, after.from = min(s.to, from), max(s.from, to)
		within.from, within.to, within.style = max(s.from, from), min(s.to, to), s.style|style
		add(before)
		if s.to > from {
			add(stretch{from: at, to: min(s.from, to), style: style})
			add(within)
			at = max(at, min(s.to, to))
		}
		if s.from >= to {
			at = to
		}
		add(after)
	}
	add(stretch{from: at, to: to, style: style})
	r.stretch = out
}

// Lines lays the text out in lines of at most width cells, which end anywhere.
// The text is one line.
func (r *StyledText) Lines(width int) []string { return r.flow(width, anywhere) }

type stretch struct {
	from, to int
	style    Style
	link     string
}

func (r *StyledText) write(s string) {
	from := r.text.Len()
	r.text.WriteString(s)
	if r.style == 0 && r.link == "" || s == "" {
		return
	}
	if n := len(r.stretch); n > 0 && r.stretch[n-1].to == from && r.stretch[n-1].style == r.style && r.stretch[n-1].link == r.link {
		r.stretch[n-1].to += len(s)
		return
	}
	r.stretch = append(r.stretch, stretch{from, from + len(s), r.style, r.link})
}

// marked is the whole text with its styles around their stretches.
func (r *StyledText) marked() string { return dressed(r.text.String(), 0, r.text.Len(), r.stretch) }

// flow lays the text out in lines of at most width cells.
func (r *StyledText) flow(width int, at breaking) []string {
	var out []string
	all, done := r.text.String(), 0
	next := r.stretch
	rule := ruler{max(width, 1), at}
	for {
		line, _, more := strings.Cut(all[done:], "\n")
		starts := rule.breaks(line)
		for i, start := range starts {
			end := len(line)
			if i+1 < len(starts) {
				end = starts[i+1]
			}
			from, to := done+start, done+end
			if at == atWords {
				to = from + len(strings.TrimRight(all[from:to], " "))
			}
			for len(next) > 0 && next[0].to <= from {
				next = next[1:]
			}
			out = append(out, dressed(all, from, to, next))
		}
		if !more {
			return out
		}
		done += len(line) + 1
	}
}

// dressed is all[from:to] with its stretches marked.
func dressed(all string, from, to int, stretches []stretch) string {
	if len(stretches) == 0 || stretches[0].from >= to {
		return all[from:to]
	}
	var out strings.Builder
	for _, s := range stretches {
		if s.from >= to {
			break
		}
		if s.from > from {
			out.WriteString(all[from:s.from])
			from = s.from
		}
		end := min(s.to, to)
		if end > from {
			out.WriteString(linked(marked(all[from:end], s.style), s.link))
			from = end
		}
	}
	out.WriteString(all[from:to])
	return out.String()
}
