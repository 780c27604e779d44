package split

import "slices"

// Drag moves a border to a cell, as far as the minimum sizes allow. It returns the moved border too. It
// does nothing if the layout no longer has the border.
func (l Layout) Drag(b Border, x, y int) (Layout, Border) {
	if b.Below {
		return l.setFirst(b, y-b.region.Y)
	}
	return l.setFirst(b, x-b.region.X)
}

// Grow makes the session with the focus wider by a number of cells, or taller if below is set. It
// moves the nearest border in that direction. A negative number makes it smaller.
func (l Layout) Grow(below bool, by, width, height int) Layout {
	for _, b := range slices.Backward(l.Arrange(width, height).Borders) { // a split is after those that contain it
		if b.Below != below || b.split.leaf(l.focus) == nil {
			continue
		}
		if b.split.Second.leaf(l.focus) != nil {
			by = -by
		}
		l, _ = l.setFirst(b, b.split.firstSize(b.region)+by)
		break
	}
	return l
}

// setFirst sets the size of the first side of the split of a border.
func (l Layout) setFirst(b Border, size int) (Layout, Border) {
	changed := *b.split
	changed.Share = float64(changed.clamp(size, b.region)) / float64(changed.space(b.region))
	l.root = l.root.replace(b.split, &changed)
	b.split = &changed
	return l, b
}
