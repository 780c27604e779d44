package split

// Direction is a direction on the screen.
type Direction uint8

// The directions.
const (
	Left Direction = iota
	Right
	Up
	Down
)

// Move gives the nearest session in a direction the focus: the one that shares most of the edge. It
// works on sessions that are covered or have no room, too.
func (l Layout) Move(d Direction, width, height int) Layout {
	if l.root == nil {
		return l
	}
	minWidth, minHeight := l.root.minSize()
	all := l
	all.zoomed = false
	panes := all.Arrange(max(width, minWidth), max(height, minHeight)).Panes
	var from Rect
	for _, p := range panes {
		if p.Session == l.focus {
			from = p.Area
		}
	}
	nearest, most := 0, 0
	for _, p := range panes {
		distance, shared := d.from(from, p.Area)
		if distance < 0 || shared <= 0 || most > 0 && (distance > nearest || distance == nearest && shared <= most) {
			continue
		}
		nearest, most, l.focus = distance, shared, p.Session
	}
	return l
}

// from returns the distance to another rectangle in a direction, negative if it is elsewhere, and
// the number of cells that both have beside each other.
func (d Direction) from(r, to Rect) (distance, shared int) {
	rows := min(r.Y+r.Height, to.Y+to.Height) - max(r.Y, to.Y)
	columns := min(r.X+r.Width, to.X+to.Width) - max(r.X, to.X)
	switch d {
	case Left:
		return r.X - to.X - to.Width, rows
	case Right:
		return to.X - r.X - r.Width, rows
	case Up:
		return r.Y - to.Y - to.Height, columns
	}
	return to.Y - r.Y - r.Height, columns
}
