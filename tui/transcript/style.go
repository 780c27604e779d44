package transcript

import "strings"

// Style says what a piece of text is, as bits. How that looks is for the Dress
// to say.
type Style uint16

// The styles of prose.
const (
	Strong Style = 1 << iota
	Emphasis
	Code
	Link
	Heading
	Faint
	Added
	Removed
)

// Dress gives clean text the look of its style. It adds nothing that takes room.
type Dress func(text string, style Style) string

// run is a text of which some stretches have a style. Stretches are in order
// and do not overlap.
type run struct {
	text    strings.Builder
	stretch []stretch
	style   Style // of what is written next
}

type stretch struct {
	from, to int
	style    Style
}

func (r *run) write(s string) {
	from := r.text.Len()
	r.text.WriteString(s)
	if r.style == 0 || s == "" {
		return
	}
	if n := len(r.stretch); n > 0 && r.stretch[n-1].to == from && r.stretch[n-1].style == r.style {
		r.stretch[n-1].to += len(s)
		return
	}
	r.stretch = append(r.stretch, stretch{from, from + len(s), r.style})
}

// flow lays the text out in lines of at most width cells.
func (r *run) flow(width int, at breaking, dress Dress) []string {
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
			out = append(out, dressed(all, from, to, next, dress))
		}
		if !more {
			return out
		}
		done += len(line) + 1
	}
}

// dressed is all[from:to] with its stretches dressed.
func dressed(all string, from, to int, stretches []stretch, dress Dress) string {
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
			out.WriteString(dress(all[from:end], s.style))
			from = end
		}
	}
	out.WriteString(all[from:to])
	return out.String()
}
