package diff

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/transcript"
)

// leastText is the room that the text keeps before line numbers have any.
const leastText = 20

// column lays rows out below each other: numbers of both sides, mark, text.
func (p *Piece) column(rows []row, width int) []string {
	digits := p.digits
	if width < 2*digits+4+leastText {
		digits = 0
	}
	var out []string
	for i := range rows {
		r := &rows[i]
		gutter := ""
		if digits > 0 {
			gutter = number(r.old, digits) + " " + number(r.new, digits) + " "
		}
		out = append(out, r.lines(gutter, width, false)...)
	}
	return out
}

// sides lays the old rows out on the left and the new ones on the right.
func (p *Piece) sides(rows []row, width int) []string {
	left := (width - 3) / 2
	right := width - 3 - left
	var out []string
	for i := 0; i < len(rows); {
		r := &rows[i]
		switch r.op {
		case Context:
			out = p.beside(out, r, r, left, right)
			i++
		case Note:
			out = append(out, r.lines("", width, false)...)
			i++
		default:
			removed, added := block(rows[i:])
			old, text := rows[i:i+removed], rows[i+removed:i+removed+added]
			for _, pair := range append(r.pairs, pair{removed, added}) {
				out = p.apart(out, &old, &text, pair.removed-removed+len(old), pair.added-added+len(text), left, right)
				if len(old) > 0 && len(text) > 0 {
					out = p.beside(out, &old[0], &text[0], left, right)
					old, text = old[1:], text[1:]
				}
			}
			i += removed + added
		}
	}
	return out
}

// apart takes so many lines of each side that became none of the other's.
func (p *Piece) apart(out []string, old, text *[]row, removed, added, left, right int) []string {
	for k := range max(removed, added) {
		var a, b *row
		if k < removed {
			a = &(*old)[k]
		}
		if k < added {
			b = &(*text)[k]
		}
		out = p.beside(out, a, b, left, right)
	}
	*old, *text = (*old)[removed:], (*text)[added:]
	return out
}

// beside adds a row of each side, either of which may be missing.
func (p *Piece) beside(out []string, a, b *row, left, right int) []string {
	var before, after []string
	if a != nil {
		before = a.lines(p.gutter(a.old), left, true)
	}
	if b != nil {
		after = b.lines(p.gutter(b.new), right, true)
	}
	bar := &transcript.StyledText{}
	bar.Append(" │ ", transcript.Faint)
	between := bar.Lines(3)[0]
	for i := range max(len(before), len(after)) {
		line, end := strings.Repeat(" ", left), ""
		if i < len(before) {
			line = before[i]
		}
		if i < len(after) {
			end = after[i]
		}
		out = append(out, line+between+end)
	}
	return out
}

func (p *Piece) gutter(n int) string {
	if p.digits == 0 {
		return ""
	}
	return number(n, p.digits) + " "
}

func number(n, digits int) string {
	s := ""
	if n > 0 {
		s = strconv.Itoa(n)
	}
	return strings.Repeat(" ", max(0, digits-len(s))) + s
}

// lines lays the row out behind its gutter. Where it changed, or beside another
// one, it is as wide as there is room.
func (r *row) lines(gutter string, width int, full bool) []string {
	mark, over := " ", transcript.Style(0)
	switch r.op {
	case Added:
		mark, over, full = "+", transcript.Added, true
	case Removed:
		mark, over, full = "-", transcript.Removed, true
	case Note:
		mark, over = "\\", transcript.Faint
	}
	room := width - len(gutter) - 2
	if room < 1 {
		gutter, room = "", max(1, width-2)
	}
	text := &transcript.StyledText{}
	text.AppendCode(r.text, r.tokens, over)
	for _, s := range r.different {
		text.AddStyle(s.from, s.to, transcript.Changed)
	}
	out := text.Lines(room)
	for i, line := range out {
		head := &transcript.StyledText{}
		if i > 0 {
			gutter = strings.Repeat(" ", len(gutter))
			mark = " "
		}
		head.Append(gutter, over|transcript.Faint)
		head.Append(mark+" ", over)
		if pad := room - ansi.StringWidth(line); full && pad > 0 {
			tail := &transcript.StyledText{}
			tail.Append(strings.Repeat(" ", pad), over)
			line += tail.Lines(pad)[0]
		}
		out[i] = head.Lines(width)[0] + line
	}
	return out
}
