package diff

import (
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/transcript"
)

// minTextWidth is the least width of the text. In narrower windows line numbers are omitted.
const minTextWidth = 20

// LayoutLine is a line of a layout. It has style marks for transcript.RenderStyles.
type LayoutLine struct {
	Text string

	// Old and New are the lines of the piece that it shows on each side, or -1. Both are -1 in a
	// heading.
	Old, New int
}

// unified lays out rows in one column: old and new line number, sign, text.
func (p *Piece) unified(rows []row, width int) []LayoutLine {
	digits := p.digits
	if width < 2*digits+4+minTextWidth {
		digits = 0
	}
	var out []LayoutLine
	for i := range rows {
		r := &rows[i]
		gutter := ""
		if digits > 0 {
			gutter = formatNumber(r.old, digits) + " " + formatNumber(r.new, digits) + " "
		}
		out = r.appendLines(out, gutter, width)
	}
	return out
}

// appendLines appends the lines of a row that has the whole width.
func (r *row) appendLines(out []LayoutLine, gutter string, width int) []LayoutLine {
	before, after := r.index, r.index
	switch r.op {
	case Added:
		before = -1
	case Removed, Note:
		after = -1
	}
	for _, line := range r.lines(gutter, width, false) {
		out = append(out, LayoutLine{line, before, after})
	}
	return out
}

// sideBySide lays out old rows on the left and new rows on the right.
func (p *Piece) sideBySide(rows []row, width int) []LayoutLine {
	left := (width - 3) / 2
	right := width - 3 - left
	var out []LayoutLine
	for i := 0; i < len(rows); {
		r := &rows[i]
		switch r.op {
		case Context:
			out = p.appendRowPair(out, r, r, left, right)
			i++
		case Note:
			out = r.appendLines(out, "", width)
			i++
		default:
			removed, added := countChange(rows[i:])
			oldRows, newRows := rows[i:i+removed], rows[i+removed:i+removed+added]
			for _, pair := range append(r.pairs, pair{removed, added}) {
				oldUnpaired, newUnpaired := pair.removed-removed+len(oldRows), pair.added-added+len(newRows)
				out = p.appendUnpaired(out, oldRows[:oldUnpaired], newRows[:newUnpaired], left, right)
				oldRows, newRows = oldRows[oldUnpaired:], newRows[newUnpaired:]
				if len(oldRows) > 0 && len(newRows) > 0 {
					out = p.appendRowPair(out, &oldRows[0], &newRows[0], left, right)
					oldRows, newRows = oldRows[1:], newRows[1:]
				}
			}
			i += removed + added
		}
	}
	return out
}

// appendUnpaired appends rows that are not aligned with each other.
func (p *Piece) appendUnpaired(out []LayoutLine, oldRows, newRows []row, left, right int) []LayoutLine {
	for k := range max(len(oldRows), len(newRows)) {
		var a, b *row
		if k < len(oldRows) {
			a = &oldRows[k]
		}
		if k < len(newRows) {
			b = &newRows[k]
		}
		out = p.appendRowPair(out, a, b, left, right)
	}
	return out
}

// appendRowPair appends an old row beside a new one. Either can be nil.
func (p *Piece) appendRowPair(out []LayoutLine, a, b *row, left, right int) []LayoutLine {
	var before, after []string
	oldIndex, newIndex := -1, -1
	if a != nil {
		before, oldIndex = a.lines(p.gutter(a.old), left, true), a.index
	}
	if b != nil {
		after, newIndex = b.lines(p.gutter(b.new), right, true), b.index
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
		out = append(out, LayoutLine{line + between + end, oldIndex, newIndex})
	}
	return out
}

func (p *Piece) gutter(n int) string {
	if p.digits == 0 {
		return ""
	}
	return formatNumber(n, p.digits) + " "
}

func formatNumber(n, digits int) string {
	s := ""
	if n > 0 {
		s = strconv.Itoa(n)
	}
	return strings.Repeat(" ", max(0, digits-len(s))) + s
}

// lines lays out a row behind its gutter. Added and removed rows, and all rows if full is set, are
// padded to the width.
func (r *row) lines(gutter string, width int, full bool) []string {
	sign, style := " ", transcript.Style(0)
	switch r.op {
	case Added:
		sign, style, full = "+", transcript.Added, true
	case Removed:
		sign, style, full = "-", transcript.Removed, true
	case Note:
		sign, style = "\\", transcript.Faint
	}
	room := width - len(gutter) - 2
	if room < 1 {
		gutter, room = "", max(1, width-2)
	}
	body := &transcript.StyledText{}
	body.AppendCode(r.text, r.tokens, style)
	indent := len(r.text) - len(strings.TrimLeft(r.text, " \t"))
	for _, s := range r.changed {
		if s.to > indent { // a change beyond the indentation
			s.from = max(s.from, indent)
		}
		body.AddStyle(s.from, s.to, transcript.Changed)
	}
	out := body.Lines(room)
	for i, line := range out {
		head := &transcript.StyledText{}
		if i > 0 {
			gutter = strings.Repeat(" ", len(gutter))
			sign = "↪"
		}
		head.Append(gutter, style|transcript.Faint)
		head.Append(sign+" ", style)
		if pad := room - ansi.StringWidth(line); full && pad > 0 {
			tail := &transcript.StyledText{}
			tail.Append(strings.Repeat(" ", pad), style)
			line += tail.Lines(pad)[0]
		}
		out[i] = head.Lines(width)[0] + line
	}
	return out
}
