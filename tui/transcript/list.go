package transcript

import (
	"slices"

	"github.com/charmbracelet/x/ansi"
)

// List is a virtual list: a window of lines over any number of items. No method renders or measures all
// items. Drawing and scrolling cost as much as the visible lines, other methods O(log n) unless they say
// otherwise.
type List struct {
	viewport
	selection selection

	highlight      func(line string) string // nil: none
	rangeHighlight lineRange
}

// NewList returns an empty list that follows its end. It caches rendered lines of up to cacheBytes.
func NewList(cacheBytes int) *List {
	return &List{viewport: viewport{
		layout: layout{width: 1, cache: newBlockCache(cacheBytes)},
		height: 1,
		follow: true,
	}}
}

// Append adds an item at the end.
func (l *List) Append(item Item, collapsed bool) ID {
	return l.append(entry{item: item, collapsed: collapsed}, l.estimate(item, collapsed))
}

// Prepend adds an item before the first.
func (l *List) Prepend(item Item, collapsed bool) ID {
	return l.prepend(entry{item: item, collapsed: collapsed}, l.estimate(item, collapsed))
}

// A NewItem is an item for a list and whether it is collapsed.
type NewItem struct {
	Item      Item
	Collapsed bool
}

// ReplaceFirst replaces the first items of the list by others, which have the same lines at their
// ends. The window and the points keep the lines that they are at.
func (l *List) ReplaceFirst(items []NewItem, points ...*Point) {
	if !l.follow {
		points = append(slices.Clone(points), &l.top)
	}
	below := make([]int, len(points)) // lines of the item below a point, which is in one of the items
	first := l.First()
	end := first + ID(len(items))
	for i, p := range points {
		if p.Item >= first && p.Item < end {
			below[i] = l.block(p.Item).height() - p.Line
		}
	}
	for i, it := range items {
		id := first + ID(i)
		e := l.entry(id)
		e.item, e.collapsed = it.Item, it.Collapsed
		l.Invalidate(id)
	}
	for i, p := range points {
		if p.Item >= first && p.Item < end {
			p.Line = max(0, l.block(p.Item).height()-below[i])
		}
	}
}

// DropBefore removes all items before the given one, which gets the ID 0. It costs O(n) of the
// remaining items.
func (l *List) DropBefore(first ID) {
	if first <= l.First() {
		return
	}
	old := l.items
	l.items, l.cache = items{}, newBlockCache(l.cache.budget)
	l.rangeHighlight = lineRange{}
	l.selection.active = l.selection.active && l.selection.item >= first
	l.selection.item -= first
	if l.top.Item -= first; l.top.Item < 0 {
		l.top = Point{}
	}
	for id := first; id <= old.Last(); id++ {
		e := *old.entry(id)
		l.append(e, old.itemHeight(id))
	}
}

// SetCollapsed collapses or expands an item. The lines above it do not move.
func (l *List) SetCollapsed(id ID, collapsed bool) {
	e := l.entry(id)
	if e.collapsed == collapsed {
		return
	}
	e.collapsed = collapsed
	if l.follow && l.Len() > 0 {
		l.setTop(l.bottomTop())
	}
	l.Invalidate(id)
}

// Lines draws the window. It returns as many lines as the window has rows, none wider than the
// window. Rows after the end of the list are empty.
func (l *List) Lines() []string {
	out := make([]string, 0, l.height)
	l.visitBlocks(func(id ID, b *Block, from, to int) {
		for line := from; line < to; line++ {
			out = append(out, l.decorate(Point{id, line}, b.line(line)))
		}
	})
	for len(out) < l.height {
		out = append(out, "")
	}
	return out
}

// Tail draws the last lines of the list in a window of another size, without selection and
// highlights. The window of the list does not move.
func (l *List) Tail(width, height int) []string {
	tail := *l // shares items and cache
	tail.Resize(width, height)
	tail.ScrollToBottom()
	tail.ClearSelection()
	tail.rangeHighlight, tail.highlight = lineRange{}, nil
	return tail.Lines()
}

// SetHighlight sets a function applied to each drawn line. Nil removes it.
func (l *List) SetHighlight(f func(line string) string) { l.highlight = f }

// SetRangeHighlight sets a function applied to the drawn lines from a to b, both included and in
// either order. Nil removes it.
func (l *List) SetRangeHighlight(a, b Point, f func(line string) string) {
	if b.Before(a) {
		a, b = b, a
	}
	l.rangeHighlight = lineRange{a, b, f}
}

// lineRange is a range of highlighted lines, both ends included.
type lineRange struct {
	first, last Point
	render      func(line string) string // nil: empty range
}

func (r *lineRange) contains(p Point) bool {
	return r.render != nil && !p.Before(r.first) && !r.last.Before(p)
}

// decorate applies highlight, truncation, range highlight and selection to a line.
func (l *List) decorate(p Point, line string) string {
	if l.highlight != nil {
		line = l.highlight(line)
	}
	if len(line) > l.width && Width(line) > l.width {
		line = ansi.Truncate(line, l.width, "")
	}
	if l.rangeHighlight.contains(p) {
		return l.rangeHighlight.render(line)
	}
	if l.selection.active && p.Item == l.selection.item && l.width > 2 {
		return selectionBar + ansi.TruncateLeft(line, 1, "")
	}
	return line
}
