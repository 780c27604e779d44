package transcript

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Point is a line of an item.
type Point struct {
	Item ID
	Line int
}

// Before tells which of two points comes first.
func (p Point) Before(q Point) bool {
	return p.Item < q.Item || p.Item == q.Item && p.Line < q.Line
}

// choice is the lines from a point to another, both included, as they are
// dressed.
type choice struct {
	from, to Point
	dress    func(line string) string
}

func (s *choice) holds(p Point) bool {
	return s.dress != nil && !p.Before(s.from) && !s.to.Before(p)
}

// SetRangeHighlight has f dress the lines between two points, in whichever order, that are
// drawn; nil ends it.
func (l *List) SetRangeHighlight(a, b Point, f func(line string) string) {
	if b.Before(a) {
		a, b = b, a
	}
	l.choice = choice{a, b, f}
}

// PointAt is the line drawn at a row of the window, or the last one above it.
func (l *List) PointAt(row int) Point {
	l.settle()
	var at Point
	left := row
	l.walk(func(p Point, _ string) {
		if left >= 0 {
			at = p
		}
		left--
	})
	return at
}

// Clamp is the point, or the nearest one that there is.
func (l *List) Clamp(p Point) Point {
	switch {
	case l.Len() == 0:
		return Point{}
	case p.Item < l.First():
		return Point{l.First(), 0}
	case p.Item > l.Last():
		return l.end()
	}
	p.Line = max(0, min(p.Line, l.block(p.Item).height()-1))
	return p
}

// BodyStart is the first line of an item that is not of its head, if there is one.
func (l *List) BodyStart(id ID) Point {
	return l.Clamp(Point{id, len(l.block(id).Header)})
}

// end is the last line.
func (l *List) end() Point {
	id := l.Last()
	for id > l.First() && l.block(id).height() == 0 {
		id--
	}
	return Point{id, max(0, l.block(id).height()-1)}
}

// MovePoint is the point so many lines further, or an end of the list. Its cost is
// that of the items passed.
func (l *List) MovePoint(p Point, lines int) Point {
	p = l.Clamp(p)
	if l.Len() == 0 {
		return p
	}
	for p.Line += lines; p.Line < 0; p.Line += l.block(p.Item).height() {
		if p.Item == l.First() {
			return Point{p.Item, 0}
		}
		p.Item--
	}
	for {
		h := l.block(p.Item).height()
		if p.Line < h {
			return p
		}
		if p.Item == l.Last() {
			return l.end()
		}
		p.Line -= h
		p.Item++
	}
}

// EnsureVisible scrolls as little as brings a line on the screen.
func (l *List) EnsureVisible(p Point) {
	if l.Len() == 0 {
		return
	}
	l.settle()
	top := Point{l.top, l.topLine}
	if p.Before(top) {
		l.follow = false
		l.top, l.topLine = p.Item, p.Line
		return
	}
	shown := false
	l.walk(func(at Point, _ string) { shown = shown || at == p })
	if !shown {
		l.follow = false
		l.top, l.topLine = p.Item, p.Line
		l.up(l.height - 1)
	}
}

// TextBetween is the text of the lines from a point to another, both included, in
// whichever order, without dress and margins: at most so many bytes. more tells
// that some were left out.
func (l *List) TextBetween(a, b Point, most int) (lines []string, more bool) {
	if l.Len() == 0 {
		return nil, false
	}
	a, b = l.Clamp(a), l.Clamp(b)
	if b.Before(a) {
		a, b = b, a
	}
	size := 0
	for p := a; !b.Before(p); {
		block := l.block(p.Item)
		for h := block.height(); p.Line < h && !b.Before(p); p.Line++ {
			line := block.bare(p.Line)
			if size += len(line) + 1; size > most {
				return lines, true
			}
			lines = append(lines, line)
		}
		p = Point{p.Item + 1, 0}
	}
	return lines, false
}

// CountLines is how many lines there are from a point to another, both included,
// in whichever order; about, where they were never on the screen.
func (l *List) CountLines(a, b Point) int {
	if b.Before(a) {
		a, b = b, a
	}
	return l.linesBefore(b.Item) + b.Line - l.linesBefore(a.Item) - a.Line + 1
}

// Paragraph is the first and the last of the lines around a point that no blank
// line parts from it, or the blank line. Head, body and foot of an item are
// apart.
func (l *List) Paragraph(p Point) (from, to Point) {
	p = l.Clamp(p)
	if l.Len() == 0 {
		return p, p
	}
	b := l.block(p.Item)
	from, to = p, p
	if p.Line >= b.height() || b.bare(p.Line) == "" {
		return from, to
	}
	first, end := 0, len(b.Header)
	if body := len(b.Header) + len(b.Body); p.Line >= body {
		first, end = body, b.height()
	} else if p.Line >= end {
		first, end = end, body
	}
	for from.Line > first && b.bare(from.Line-1) != "" {
		from.Line--
	}
	for to.Line < end-1 && b.bare(to.Line+1) != "" {
		to.Line++
	}
	return from, to
}

// bare is a line's text: what the body says without what Draw adds, or a line
// of head or foot without its margin.
func (b *Block) bare(i int) string {
	if j := i - len(b.Header); j >= 0 && j < len(b.Body) {
		return strings.TrimRight(ansi.Strip(b.Body[j]), " ")
	}
	return strings.TrimSpace(ansi.Strip(b.line(i)))
}
