package transcript

// Point identifies a line of an item.
type Point struct {
	Item ID
	Line int
}

// Before reports whether p precedes q.
func (p Point) Before(q Point) bool {
	return p.Item < q.Item || p.Item == q.Item && p.Line < q.Line
}

// layout renders items at a width and addresses their lines.
type layout struct {
	items
	width int
	cache *blockCache
}

// Invalidate discards the rendering of an item whose content changed.
func (l *layout) Invalidate(id ID) {
	e := l.entry(id)
	e.version++
	l.setItemHeight(id, l.estimate(e.item, e.collapsed))
}

// Restyle discards the rendering of all items. Use it for a change of styles, not of heights.
func (l *layout) Restyle() { l.cache = newBlockCache(l.cache.budget) }

func (l *layout) estimate(item Item, collapsed bool) int {
	return max(item.Estimate(l.width, collapsed), 1)
}

// block returns the item's block, from the cache if possible, and corrects the item's height.
func (l *layout) block(id ID) *Block {
	e := l.entry(id)
	key := cacheKey{item: int(id), width: l.width, collapsed: e.collapsed}
	b, ok := l.cache.get(key, e.version)
	if !ok {
		b = l.cache.put(key, e.version, e.item.Block(l.width, e.collapsed))
	}
	l.setItemHeight(id, b.height())
	return b
}

// Clamp returns p, or the nearest existing point.
func (l *layout) Clamp(p Point) Point {
	switch {
	case l.Len() == 0:
		return Point{}
	case p.Item < l.First():
		return Point{l.First(), 0}
	case p.Item > l.Last():
		return l.lastPoint()
	}
	p.Line = max(0, min(p.Line, l.block(p.Item).height()-1))
	return p
}

// BodyStart returns the first line after an item's header, or the item's last line.
func (l *layout) BodyStart(id ID) Point {
	return l.Clamp(Point{id, len(l.block(id).Header)})
}

func (l *layout) lastPoint() Point {
	id := l.Last()
	for id > l.First() && l.block(id).height() == 0 {
		id--
	}
	return Point{id, max(0, l.block(id).height()-1)}
}

// MovePoint returns the point the given number of lines below p, or above it if lines is negative,
// limited to the ends of the list. It renders the items passed.
func (l *layout) MovePoint(p Point, lines int) Point {
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
			return l.lastPoint()
		}
		p.Line -= h
		p.Item++
	}
}

// TextBetween returns the lines from a to b, both included and in either order, as plain text
// without margins. It returns at most maxBytes bytes; more reports whether lines are missing.
func (l *layout) TextBetween(a, b Point, maxBytes int) (lines []string, more bool) {
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
			line := block.text(p.Line)
			if size += len(line) + 1; size > maxBytes {
				return lines, true
			}
			lines = append(lines, line)
		}
		p = Point{p.Item + 1, 0}
	}
	return lines, false
}

// CountLines returns the number of lines from a to b, both included and in either order. It counts
// items not rendered yet by their estimated heights.
func (l *layout) CountLines(a, b Point) int {
	if b.Before(a) {
		a, b = b, a
	}
	return l.linesBefore(b.Item) + b.Line - l.linesBefore(a.Item) - a.Line + 1
}

// FindLine returns the first rendered line of an item that matches, searching from the line from in
// steps of 1 or -1. If from is past the end, the search starts at the last line.
func (l *layout) FindLine(id ID, from, step int, match func(line string) bool) (line int, ok bool) {
	b := l.block(id)
	for i := min(from, b.height()-1+max(step, 0)); i >= 0 && i < b.height(); i += step {
		if match(b.line(i)) {
			return i, true
		}
	}
	return 0, false
}
