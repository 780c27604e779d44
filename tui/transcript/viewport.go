package transcript

import "strings"

// viewport is a window of lines over a layout. It anchors to the line at its top, so that corrected
// height estimates never move the visible lines.
type viewport struct {
	layout
	height int
	top    Point // first line of the window; stale while follow is set
	follow bool  // the last line of the list is the last line of the window
}

// Resize sets the size of the window, in cells. Lines are laid out again when they are drawn.
func (v *viewport) Resize(width, height int) {
	v.width, v.height = max(width, 1), max(height, 1)
}

// Height returns the number of rows of the window.
func (v *viewport) Height() int { return v.height }

// Following reports whether new lines scroll the window.
func (v *viewport) Following() bool { return v.follow }

// ScrollToBottom scrolls to the end and follows it.
func (v *viewport) ScrollToBottom() { v.follow = true }

// ScrollToTop scrolls to the first line.
func (v *viewport) ScrollToTop() { v.setTop(Point{v.First(), 0}) }

// SetTopLine scrolls a line to the top of the window, or as near as the end of the list allows.
func (v *viewport) SetTopLine(id ID, line int) {
	if v.Len() > 0 {
		v.setTop(Point{id, line})
	}
}

// TopLine returns the first line of the window: its item and its index in the item.
func (v *viewport) TopLine() (ID, int) {
	v.normalize()
	return v.top.Item, v.top.Line
}

// AtTop reports whether the first line of the list is visible.
func (v *viewport) AtTop() bool {
	v.normalize()
	return v.Len() == 0 || v.top == Point{v.First(), 0}
}

// Position returns the number of lines above the window and the number of all lines. It counts
// items not rendered yet by their estimated heights.
func (v *viewport) Position() (above, total int) {
	total = v.frontHeights.total() + v.backHeights.total()
	if v.Len() == 0 {
		return 0, total
	}
	v.normalize()
	return v.linesBefore(v.top.Item) + v.top.Line, total
}

// Scroll moves the window down by lines, or up if lines is negative. At the end of the list it
// starts to follow. It renders the items passed.
func (v *viewport) Scroll(lines int) {
	if v.Len() == 0 || lines == 0 {
		return
	}
	v.normalize()
	if lines > 0 && v.follow {
		return
	}
	v.setTop(v.MovePoint(v.top, lines))
	if lines > 0 {
		v.normalize()
	}
}

// EnsureVisible scrolls by the least number of lines that makes a line visible.
func (v *viewport) EnsureVisible(p Point) {
	if v.Len() == 0 {
		return
	}
	v.normalize()
	if p.Before(v.top) {
		v.setTop(p)
		return
	}
	visible := false
	v.VisitVisible(func(id ID, from, to int) {
		visible = visible || id == p.Item && from <= p.Line && p.Line < to
	})
	if !visible {
		v.setTop(v.MovePoint(p, 1-v.height))
	}
}

// ensureItemVisible scrolls by the least number of lines that makes an item visible, or as much of
// it as fits.
func (v *viewport) ensureItemVisible(id ID) {
	v.normalize()
	if id < v.top.Item || id == v.top.Item && v.top.Line > 0 {
		v.setTop(Point{id, 0})
		return
	}
	h, visible := v.block(id).height(), false
	v.VisitVisible(func(at ID, from, to int) { visible = visible || at == id && to-from == h })
	if !visible {
		v.setTop(v.MovePoint(Point{id, 0}, min(0, h-v.height)))
	}
}

// PointAt returns the line drawn at a row of the window, or the last line above the row.
func (v *viewport) PointAt(row int) Point {
	var at Point
	v.VisitVisible(func(id ID, from, to int) {
		if row >= 0 {
			at = Point{id, min(from+row, to-1)}
		}
		row -= to - from
	})
	return at
}

// ItemAt returns the item drawn at a row of the window.
func (v *viewport) ItemAt(row int) (id ID, ok bool) {
	v.VisitVisible(func(at ID, from, to int) {
		if row >= 0 && row < to-from {
			id, ok = at, true
		}
		row -= to - from
	})
	return id, ok
}

func (v *viewport) setTop(p Point) { v.top, v.follow = p, false }

// normalize moves the top to an existing line. It leaves no empty rows below the last item while
// lines are hidden above the window.
func (v *viewport) normalize() {
	if v.Len() == 0 {
		v.top, v.follow = Point{}, true
		return
	}
	if v.follow {
		v.top = v.bottomTop()
		return
	}
	v.top.Item = min(max(v.top.Item, v.First()), v.Last())
	h := v.block(v.top.Item).height()
	v.top.Line = max(0, min(v.top.Line, h-1))
	for id, left := v.top.Item, v.height+v.top.Line; ; {
		if left -= v.block(id).height(); left < 0 {
			return
		}
		if id++; id > v.Last() {
			v.top, v.follow = v.bottomTop(), true
			return
		}
	}
}

// bottomTop returns the top of a window that ends with the last line.
func (v *viewport) bottomTop() Point {
	left := v.height
	for id := v.Last(); id >= v.First(); id-- {
		if left -= v.block(id).height(); left <= 0 {
			return Point{id, -left}
		}
	}
	return Point{v.First(), 0}
}

// pictureMark begins a line of a picture. It has no effect on a terminal. Clean text has no control
// sequences, so untrusted text has no such line.
const pictureMark = "\x1b[0;10m"

// Picture returns a line of a picture: cells in their own colours. It is drawn as it is, and has no
// text to copy.
func Picture(line string) string { return pictureMark + line }

// isPicture reports whether a line, with or without a margin, is of a picture.
func isPicture(line string) bool { return strings.Contains(line, pictureMark) }

// PictureAt returns the item whose picture is drawn at a row of the window.
func (v *viewport) PictureAt(row int) (ID, bool) {
	id, ok := v.ItemAt(row)
	return id, ok && isPicture(v.block(id).line(v.PointAt(row).Line))
}

// Width returns the number of columns of the window.
func (v *viewport) Width() int { return v.width }

// VisitVisible calls visit for each item with lines in the window, with the range of these lines.
func (v *viewport) VisitVisible(visit func(id ID, from, to int)) {
	v.visitBlocks(func(id ID, _ *Block, from, to int) { visit(id, from, to) })
}

// visitBlocks is VisitVisible with the blocks of the items.
func (v *viewport) visitBlocks(visit func(id ID, b *Block, from, to int)) {
	v.normalize()
	left := v.height
	for id, line := v.top.Item, v.top.Line; left > 0 && id <= v.Last(); id, line = id+1, 0 {
		b := v.block(id)
		if to := min(b.height(), line+left); line < to {
			visit(id, b, line, to)
			left -= to - line
		}
	}
}
