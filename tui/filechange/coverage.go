package filechange

import (
	"fmt"
	"slices"

	"agentctl/internal/format"
	"agentctl/tui/diff"
)

// Len returns the number of pieces of the changes.
func (c *Changes) Len() int { return len(c.pieces) }

// Piece returns a piece of the changes.
func (c *Changes) Piece(piece int) *diff.Piece { return &c.pieces[piece] }

// Files returns the changed files.
func (c *Changes) Files() []*diff.File { return c.files }

// FileOf returns the index of the file of a piece.
func (c *Changes) FileOf(piece int) int { return c.fileOf[piece] }

// HeaderOf returns the piece that is the header of a file.
func (c *Changes) HeaderOf(file int) int { return slices.Index(c.fileOf, file) }

// End returns the piece after the last one of a file.
func (c *Changes) End(file int) int {
	end := c.HeaderOf(file)
	for end < len(c.pieces) && c.fileOf[end] == file {
		end++
	}
	return end
}

// Summary returns the number of files and of added and removed lines.
func (c *Changes) Summary() string {
	added, removed := 0, 0
	for _, f := range c.files {
		a, r := f.Stat()
		added, removed = added+a, removed+r
	}
	return fmt.Sprintf("%s +%d −%d", format.Count(len(c.files), "file"), added, removed)
}

// Estimate returns the approximate number of lines of a layout.
func (c *Changes) Estimate() int {
	n := 0
	for i := range c.pieces {
		n += c.pieces[i].Estimate()
	}
	return n
}

// coverage records which lines of a piece were on the screen. A line of the patch counts when all
// lines of one layout that show a part of it were drawn.
type coverage struct {
	width      int
	sideBySide bool
	layout     []diff.LayoutLine
	drawn      []bool // by line of the layout
	seen       []bool // by line of the patch, after the headings of the piece; nil: none
	left       int    // number of lines not seen
}

// Layout lays out a piece. It keeps the last layout.
func (c *Changes) Layout(piece, width int, sideBySide bool) []diff.LayoutLine {
	v := &c.coverage[piece]
	if v.layout == nil || v.width != width || v.sideBySide != sideBySide {
		v.width, v.sideBySide = width, sideBySide
		v.layout = c.pieces[piece].Layout(width, sideBySide)
		v.drawn = make([]bool, len(v.layout))
	}
	return v.layout
}

// MarkDrawn records that the lines [from, to) of the last layout of a piece are on the screen.
func (c *Changes) MarkDrawn(piece, from, to int) {
	v := &c.coverage[piece]
	from, to = max(from, 0), min(to, len(v.drawn))
	if v.left == 0 || from >= to || !slices.Contains(v.drawn[from:to], false) {
		return
	}
	for i := from; i < to; i++ {
		v.drawn[i] = true
	}
	if v.seen == nil {
		v.seen = make([]bool, v.left)
	}
	hidden := make([]bool, len(v.seen))
	for i, line := range v.layout {
		if v.drawn[i] {
			continue
		}
		if line.Old < 0 && line.New < 0 {
			hidden[0] = true
		}
		for _, at := range []int{line.Old, line.New} {
			if at >= 0 {
				hidden[at+1] = true
			}
		}
	}
	v.left = 0
	for i := range v.seen {
		if v.seen[i] = v.seen[i] || !hidden[i]; !v.seen[i] {
			v.left++
		}
	}
}

// Unseen returns the number of lines of a file that were not on the screen. The headings of a piece
// count as one.
func (c *Changes) Unseen(file int) int {
	n := 0
	for i := c.HeaderOf(file); i < c.End(file); i++ {
		n += c.coverage[i].left
	}
	return n
}

// UnseenFiles returns the number of files with lines that were not on the screen.
func (c *Changes) UnseenFiles() int {
	n, last := 0, -1
	for i := range c.pieces {
		if file := c.fileOf[i]; c.coverage[i].left > 0 && file != last {
			n, last = n+1, file
		}
	}
	return n
}

// NextUnseen returns the first piece with lines that were not on the screen, and the first such
// line of its last layout. ok is false if all were.
func (c *Changes) NextUnseen() (piece, line int, ok bool) {
	for i := range c.coverage {
		if v := &c.coverage[i]; v.left > 0 {
			for at, l := range v.layout {
				heading := l.Old < 0 && l.New < 0
				if v.seen == nil || heading && !v.seen[0] || l.Old >= 0 && !v.seen[l.Old+1] ||
					l.New >= 0 && !v.seen[l.New+1] {
					return i, at, true
				}
			}
			return i, 0, true
		}
	}
	return 0, 0, false
}

// Complete reports whether all lines were on the screen.
func (c *Changes) Complete() bool {
	return !slices.ContainsFunc(c.coverage, func(v coverage) bool { return v.left > 0 })
}

// Top returns the first n lines of a layout, or fewer if there are no more, with their pieces.
func (c *Changes) Top(width, n int, sideBySide bool) []TopLine {
	var out []TopLine
	for piece := range c.pieces {
		for i, line := range c.Layout(piece, width, sideBySide) {
			if len(out) == n {
				return out
			}
			out = append(out, TopLine{piece, i, line.Text})
		}
	}
	return out
}

// TopLine is a line of the layout of a piece.
type TopLine struct {
	Piece, Line int
	Text        string // with style marks
}
