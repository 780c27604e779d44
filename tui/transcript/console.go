package transcript

import (
	"strings"
	"unicode/utf8"
)

const (
	liveRows   = 32   // that a cursor can still go back to
	rowCells   = 2048 // of a row that a carriage return can still go back over
	paramBytes = 64   // of a control sequence

	// Blanks that a cursor leaves behind are made of nothing, so there are only
	// so many: some for each rune written, and some to begin with.
	blanksFirst, blanksEach, blanksMost = 4096, 4, 1 << 16
)

// console shows what a program writes as a terminal would that it writes to:
// progress is its last state, colours are styles of the theme, and everything
// else that steers a terminal is without effect. Rows that no cursor can reach
// any more are final.
type console struct {
	cleaner Cleaner
	params  []byte
	final   strings.Builder // rows that were not taken yet

	rows   []liveRow // that are not final; rows[at] is in cells
	at     int
	cells  []cell
	col    int // where the next cell is written; behind the cells there are blanks
	blanks int // that may still be made
	pen    pen
}

// liveRow is a row that may still change. One that a cursor came back to stays in
// cells, so that going to and fro costs nothing.
type liveRow struct {
	text  string // with marks
	cells []cell
	kept  bool // it is in cells
}

// cell is a grapheme cluster on a row. A wide one is followed by cells of no
// text.
type cell struct {
	text  string
	style Style
}

func newConsole() *console { return &console{rows: make([]liveRow, 1), blanks: blanksFirst} }

// take is the rows that became final since the last call.
func (c *console) take() string {
	s := c.final.String()
	c.final.Reset()
	return s
}

// live is the rows that may still change.
func (c *console) live() string {
	c.leave()
	return joined(c.rows)
}

func joined(rows []liveRow) string {
	var out strings.Builder
	for i := range rows {
		if i > 0 {
			out.WriteByte('\n')
		}
		if rows[i].kept {
			out.WriteString(marks(rows[i].cells))
		} else {
			out.WriteString(rows[i].text)
		}
	}
	return out.String()
}

// leave stores the row of the cursor.
func (c *console) leave() {
	if r := &c.rows[c.at]; r.kept {
		r.cells = c.cells
	} else {
		r.text = marks(c.cells)
	}
}

// enter takes another row into the cells, where it stays.
func (c *console) enter(at int) {
	if c.rows[c.at].kept {
		c.cells = nil // they are that row's
	}
	c.at = at
	r := &c.rows[at]
	if r.kept {
		c.cells = r.cells
		return
	}
	c.load(r.text)
	r.kept = true
}

// write takes the next piece of output. No rune is cut between two pieces.
func (c *console) write(s string) {
	for s != "" {
		n := strings.IndexByte(s, '\n') + 1
		if n == 0 || !c.whole(s[:n-1]) {
			if n == 0 {
				n = len(s)
			}
			for _, r := range s[:n] {
				for !c.step(r) {
				}
			}
		}
		s = s[n:]
	}
}

// whole takes a row as it is, where it is nothing but plain text on a new row.
func (c *console) whole(row string) bool {
	if len(c.cells) > 0 || c.col > 0 || c.at < len(c.rows)-1 || c.rows[c.at].kept || len(row)*tabStop > rowCells || c.pen != (pen{}) || c.cleaner.state != inText || !isPlain(row) {
		return false
	}
	c.cleaner.based('\n')
	c.rows[c.at].text = row
	c.grow()
	c.blanks = min(c.blanks+blanksEach*(len(row)+1), blanksMost)
	return true
}

// step consumes r, or changes the state and wants r again.
func (c *console) step(r rune) bool {
	switch c.cleaner.state {
	case inText:
		switch r {
		case '\r':
			c.col = 0
			return true
		case '\b':
			c.col = max(0, c.col-1)
			return true
		case 0x9b:
			c.params = c.params[:0]
		}
	case inEscape:
		c.params = c.params[:0]
	case inSequence:
		switch {
		case r >= 0x40 && r <= 0x7e:
			c.control(string(c.params), r)
		case r >= 0x20 && r < 0x40 && len(c.params) < paramBytes:
			c.params = append(c.params, byte(r))
		}
	}
	return c.cleaner.step(c, r)
}

// WriteRune takes a clean rune.
func (c *console) WriteRune(r rune) (int, error) {
	c.blanks = min(c.blanks+blanksEach, blanksMost)
	switch {
	case r == '\n':
		c.newline()
	case r == '\t':
		c.put("\t", tabStop-c.col%tabStop)
	case r < utf8.RuneSelf:
		c.put(ascii[r:r+1], 1)
	default:
		s := string(r)
		if ideograph := r >= 0x3400 && r <= 0x9fff; ideograph && !c.joining() || !c.join(s) {
			if _, cells := cluster(s); cells > 0 {
				c.put(s, cells)
			}
		}
	}
	return 0, nil
}

// ascii is every rune of one byte, to be cut instead of made.
var ascii = func() string {
	var b [utf8.RuneSelf]byte
	for i := range b {
		b[i] = byte(i)
	}
	return string(b[:])
}()

// joining tells that the cluster before the cursor takes whatever comes.
func (c *console) joining() bool {
	return c.col > 0 && c.col <= len(c.cells) && strings.HasSuffix(c.cells[c.base(c.col-1)].text, "\u200d")
}

// join adds to the cluster before the cursor what belongs to it.
func (c *console) join(s string) bool {
	if c.col > len(c.cells) || c.col == 0 {
		return false
	}
	at := c.base(c.col - 1)
	both := c.cells[at].text + s
	n, cells := cluster(both)
	if n < len(both) || len(both) > 64 {
		return n == len(both) // a cluster that never ends goes no further
	}
	c.cells[at].text = both
	if wide := at + cells; wide > c.col {
		style := c.cells[at].style
		c.col = at
		c.lay(both, cells, style)
	}
	return true
}

// base is the cell whose text covers the cell at i.
func (c *console) base(i int) int {
	for i > 0 && c.cells[i].text == "" {
		i--
	}
	return i
}

func (c *console) put(text string, cells int) {
	if c.col+cells > rowCells {
		c.breakRow()
	}
	c.lay(text, cells, c.pen.style())
}

// lay writes at the cursor. What it cuts in half becomes blank.
func (c *console) lay(text string, cells int, style Style) {
	if far := c.col - len(c.cells); far > 0 {
		c.col -= max(0, far-c.blanks)
		c.blanks -= min(far, c.blanks)
		for len(c.cells) < c.col {
			c.cells = append(c.cells, cell{text: " "})
		}
	}
	end := c.col + cells
	if end > len(c.cells) {
		if c.col < len(c.cells) {
			c.blank(c.col)
		}
		for len(c.cells) < end {
			c.cells = append(c.cells, cell{})
		}
	} else {
		c.blank(c.col)
		if end < len(c.cells) {
			c.blank(end)
		}
	}
	c.cells[c.col] = cell{text, style}
	for i := c.col + 1; i < end; i++ {
		c.cells[i] = cell{style: style}
	}
	c.col = end
}

// blank makes room before a cell that is not the first of its cluster.
func (c *console) blank(i int) {
	if c.cells[i].text != "" {
		return
	}
	for k := c.base(i); k < len(c.cells) && (k <= i || c.cells[k].text == ""); k++ {
		c.cells[k].text = " "
	}
}

// marks is a row's text with its marks.
func marks(cells []cell) string {
	var out strings.Builder
	out.Grow(len(cells) + 2*maxMark)
	style := Style(0)
	for i := range cells {
		cell := &cells[i]
		if cell.text == "" {
			continue
		}
		if cell.style != style {
			style = cell.style
			if style == 0 {
				out.WriteString(markEnd)
			} else {
				out.WriteString(mark(style))
			}
		}
		out.WriteString(cell.text)
	}
	if style != 0 {
		out.WriteString(markEnd)
	}
	return out.String()
}

// load reads a row into the cells.
func (c *console) load(row string) {
	c.cells, c.col = c.cells[:0], 0
	style := Style(0)
	for row != "" {
		if n, next := markAt(row); n > 0 {
			style, row = next, row[n:]
			continue
		}
		n, cells := cluster(row)
		if row[0] == '\t' {
			cells = tabStop - c.col%tabStop
		}
		c.lay(row[:n], max(cells, 1), style)
		row = row[n:]
	}
}

func (c *console) newline() {
	c.leave()
	if c.at == len(c.rows)-1 {
		c.grow()
	} else {
		c.enter(c.at + 1)
	}
	c.col = 0
}

// grow adds a row at the end and goes there; the first may become final.
func (c *console) grow() {
	if c.rows[c.at].kept {
		c.cells = nil // they are the row's
	}
	c.rows = append(c.rows, liveRow{})
	if len(c.rows) > liveRows {
		c.final.WriteString(joined(c.rows[:1]))
		c.final.WriteByte('\n')
		c.rows = c.rows[1:]
	}
	c.at, c.cells = len(c.rows)-1, c.cells[:0]
}

// breakRow makes all rows up to the cursor's final; its row goes on.
func (c *console) breakRow() {
	c.leave()
	c.final.WriteString(joined(c.rows[:c.at+1]))
	c.rows = append([]liveRow{{}}, c.rows[c.at+1:]...)
	c.at, c.cells, c.col = 0, nil, 0
}
