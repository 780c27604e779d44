package split

// path leads from the root of a tree to a node.
type path string

const firstSide, secondSide path = "1", "2"

// Drag moves a border to a cell, as far as the minimum sizes allow.
func (l Layout) Drag(b Border, x, y int) Layout {
	to := x - b.region.X
	if b.Below {
		to = y - b.region.Y
	}
	return l.setFirst(b, func(*node) int { return to })
}

// Grow makes the session with the focus wider by a number of cells, or taller if below is set. It
// moves the nearest border in that direction. A negative number makes it smaller.
func (l Layout) Grow(below bool, by, width, height int) Layout {
	a := l.Arrange(width, height)
	for i := len(a.Borders) - 1; i >= 0; i-- { // a split is after those that contain it
		b := a.Borders[i]
		n := l.root.at(b.path)
		if b.Below != below || !n.has(l.focus) {
			continue
		}
		if n.second.has(l.focus) {
			by = -by
		}
		return l.setFirst(b, func(n *node) int { return n.firstSize(b.region) + by })
	}
	return l
}

// setFirst sets the size of the first side of the split of a border.
func (l Layout) setFirst(b Border, size func(*node) int) Layout {
	if l.root.at(b.path) == nil {
		return l // the layout has changed
	}
	l.root = l.root.change(b.path, func(n *node) {
		n.share = float64(n.clamp(size(n), b.region)) / float64(n.space(b.region))
	})
	return l
}

// at returns the split at a path, or nil.
func (n *node) at(p path) *node {
	switch {
	case n == nil || n.first == nil:
		return nil
	case p == "":
		return n
	case p[:1] == firstSide:
		return n.first.at(p[1:])
	}
	return n.second.at(p[1:])
}

// change returns the tree with a changed copy of the split at a path.
func (n *node) change(p path, change func(*node)) *node {
	changed := *n
	switch {
	case p == "":
		change(&changed)
	case p[:1] == firstSide:
		changed.first = n.first.change(p[1:], change)
	default:
		changed.second = n.second.change(p[1:], change)
	}
	return &changed
}
