package split

import "math"

// The minimum size of a session beside others, with its title and the border beside it.
const (
	MinWidth  = 40
	MinHeight = 10
)

// minTitledHeight is the minimum height of a session that covers others and has a title.
const minTitledHeight = 4

// Rect is a rectangle of cells.
type Rect struct{ X, Y, Width, Height int }

// Contains reports whether a cell is in the rectangle.
func (r Rect) Contains(x, y int) bool {
	return x >= r.X && x < r.X+r.Width && y >= r.Y && y < r.Y+r.Height
}

// Pane is the place of a session.
type Pane struct {
	Session string
	Area    Rect
	Content Rect // Area without the title, which is its first row
}

// Titled reports whether the pane has a title.
func (p *Pane) Titled() bool { return p.Content.Y > p.Area.Y }

// Border is the line between the two sides of a split: a column of cells, or the row with the
// titles of the lower side.
type Border struct {
	Area  Rect
	Below bool // a row

	split  *node
	region Rect // of the split
}

// Arrangement is a division of a screen. The areas of the panes and the borders that are columns
// cover each cell of the screen once.
type Arrangement struct {
	Panes   []Pane // one: the session with the focus covers the others
	Borders []Border
	Fits    bool // there is room for all sessions
}

// At returns the pane at a cell, or nil.
func (a *Arrangement) At(x, y int) *Pane {
	for i := range a.Panes {
		if a.Panes[i].Area.Contains(x, y) {
			return &a.Panes[i]
		}
	}
	return nil
}

// BorderAt returns the border at a cell, or nil.
func (a *Arrangement) BorderAt(x, y int) *Border {
	for _, below := range []bool{false, true} { // a column crosses the row with titles
		for i := range a.Borders {
			if b := &a.Borders[i]; b.Below == below && b.Area.Contains(x, y) {
				return b
			}
		}
	}
	return nil
}

// Arrange divides a screen among the sessions. If the layout is zoomed or there is no room for all,
// the session with the focus gets the screen. A title shows then that there are others.
func (l Layout) Arrange(width, height int) Arrangement {
	screen := Rect{Width: width, Height: height}
	if l.root == nil {
		return Arrangement{Fits: true}
	}
	minWidth, minHeight := l.root.minSize()
	single := l.root.First == nil
	out := Arrangement{Fits: single || width >= minWidth && height >= minHeight}
	switch {
	case single:
		out.Panes = []Pane{{l.focus, screen, screen}}
	case l.zoomed || !out.Fits:
		p := Pane{l.focus, screen, screen}
		if height >= minTitledHeight {
			p.Content = untitled(screen)
		}
		out.Panes = []Pane{p}
	default:
		out.add(l.root, screen)
	}
	return out
}

// add divides a region among the sessions of a tree.
func (a *Arrangement) add(n *node, region Rect) {
	if n.First == nil {
		a.Panes = append(a.Panes, Pane{n.Session, region, untitled(region)})
		return
	}
	first, second := region, region
	size := n.firstSize(region)
	if n.Below {
		first.Height = size
		second.Y, second.Height = region.Y+size, region.Height-size
		row := Rect{region.X, second.Y, region.Width, 1}
		a.Borders = append(a.Borders, Border{row, true, n, region})
	} else {
		first.Width = size
		second.X, second.Width = region.X+size+1, region.Width-size-1
		column := Rect{region.X + size, region.Y, 1, region.Height}
		a.Borders = append(a.Borders, Border{column, false, n, region})
	}
	a.add(n.First, first)
	a.add(n.Second, second)
}

// untitled returns an area without its first row.
func untitled(r Rect) Rect { return Rect{r.X, r.Y + 1, r.Width, r.Height - 1} }

// minSize returns the size that a tree needs.
func (n *node) minSize() (width, height int) {
	if n.First == nil {
		return MinWidth - 1, MinHeight
	}
	w1, h1 := n.First.minSize()
	w2, h2 := n.Second.minSize()
	if n.Below {
		return max(w1, w2), h1 + h2
	}
	return w1 + 1 + w2, max(h1, h2)
}

// space returns the cells that the two sides of a split share.
func (n *node) space(region Rect) int {
	if n.Below {
		return region.Height
	}
	return region.Width - 1 // without the border
}

// firstSize returns the size of the first side of a split in its direction.
func (n *node) firstSize(region Rect) int {
	return n.clamp(int(math.Round(n.Share*float64(n.space(region)))), region)
}

// clamp returns the size of the first side that is nearest to size and leaves both sides enough.
func (n *node) clamp(size int, region Rect) int {
	w1, h1 := n.First.minSize()
	w2, h2 := n.Second.minSize()
	if n.Below {
		w1, w2 = h1, h2
	}
	return max(min(size, n.space(region)-w2), w1)
}
