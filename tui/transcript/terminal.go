package transcript

import (
	"strings"
	"unicode/utf8"
)

const (
	maxLiveRows   = 32   // that a cursor can still go back to
	maxRowCells   = 2048 // of a row that a carriage return can still go back over
	maxParamBytes = 64   // of a control sequence

	// Blanks that a cursor leaves behind are made of nothing, so there are only
	// so many: some for each rune written, and some to begin with.
	initialBlanks, blanksPerRune, maxBlanks = 4096, 4, 1 << 16
)

// terminal shows what a program writes as a terminal would that it writes to:
// progress is its last state, colours are styles of the theme, and everything
// else that steers a terminal is without effect. Rows that no cursor can reach
// any more are final.
type terminal struct {
	cleaner Cleaner
	params  []byte
	final   strings.Builder // rows that were not taken yet

	rows   []liveRow // that are not final; rows[at] is in cells
	row    int
	cells  []cell
	col    int // where the next cell is written; behind the cells there are blanks
	blanks int // that may still be made
	sgr    sgrState
}

// liveRow is a row that may still change. One that a cursor came back to stays in
// cells, so that going to and fro costs nothing.
type liveRow struct {
	text    string // with marks
	cells   []cell
	inCells bool // it is in cells
}

// cell is a grapheme cluster on a row. A wide one is followed by cells of no
// text.
type cell struct {
	text  string
	style Style
}

func newTerminal() *terminal { return &terminal{rows: make([]liveRow, 1), blanks: initialBlanks} }

// takeFinal is the rows that became final since the last call.
func (c *terminal) takeFinal() string {
	s := c.final.String()
	c.final.Reset()
	return s
}

// live is the rows that may still change.
func (c *terminal) live() string {
	c.storeRow()
	return joinRows(c.rows)
}

func joinRows(rows []liveRow) string {
	var out strings.Builder
	for i := range rows {
		if i > 0 {
			out.WriteByte('\n')
		}
		if rows[i].inCells {
			out.WriteString(markedRow(rows[i].cells))
		} else {
			out.WriteString(rows[i].text)
		}
	}
	return out.String()
}

// storeRow stores the row of the cursor.
func (c *terminal) storeRow() {
	if r := &c.rows[c.row]; r.inCells {
		r.cells = c.cells
	} else {
		r.text = markedRow(c.cells)
	}
}

// switchRow takes another row into the cells, where it stays.
func (c *terminal) switchRow(at int) {
	if c.rows[c.row].inCells {
		c.cells = nil // they are that row's
	}
	c.row = at
	r := &c.rows[at]
	if r.inCells {
		c.cells = r.cells
		return
	}
	c.parseRow(r.text)
	r.inCells = true
}

// write takes the next piece of output. No rune is cut between two pieces.
func (c *terminal) write(s string) {
	for s != "" {
		n := strings.IndexByte(s, '\n') + 1
		if n == 0 || !c.writePlainRow(s[:n-1]) {
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

// writePlainRow takes a row as it is, where it is nothing but plain text on a new row.
func (c *terminal) writePlainRow(row string) bool {
	if len(c.cells) > 0 || c.col > 0 || c.row < len(c.rows)-1 || c.rows[c.row].inCells || len(row)*tabStop > maxRowCells || c.sgr != (sgrState{}) || c.cleaner.state != inText || !isPlain(row) {
		return false
	}
	c.cleaner.setBase('\n')
	c.rows[c.row].text = row
	c.appendRow()
	c.blanks = min(c.blanks+blanksPerRune*(len(row)+1), maxBlanks)
	return true
}

// step consumes r, or changes the state and wants r again.
func (c *terminal) step(r rune) bool {
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
		case r >= 0x20 && r < 0x40 && len(c.params) < maxParamBytes:
			c.params = append(c.params, byte(r))
		}
	}
	return c.cleaner.step(c, r)
}

// WriteRune takes a clean rune.
func (c *terminal) WriteRune(r rune) (int, error) {
	c.blanks = min(c.blanks+blanksPerRune, maxBlanks)
	switch {
	case r == '\n':
		c.newline()
	case r == '\t':
		c.put("\t", tabStop-c.col%tabStop)
	case r < utf8.RuneSelf:
		c.put(ascii[r:r+1], 1)
	default:
		s := string(r)
		if ideograph := r >= 0x3400 && r <= 0x9fff; ideograph && !c.joinsNext() || !c.extendCluster(s) {
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

// joinsNext tells that the cluster before the cursor takes whatever comes.
func (c *terminal) joinsNext() bool {
	return c.col > 0 && c.col <= len(c.cells) && strings.HasSuffix(c.cells[c.clusterStart(c.col-1)].text, "\u200d")
}

// extendCluster adds to the cluster before the cursor what belongs to it.
func (c *terminal) extendCluster(s string) bool {
	if c.col > len(c.cells) || c.col == 0 {
		return false
	}
	at := c.clusterStart(c.col - 1)
	both := c.cells[at].text + s
	n, cells := cluster(both)
	if n < len(both) || len(both) > 64 {
		return n == len(both) // a cluster that never ends goes no further
	}
	c.cells[at].text = both
	if wide := at + cells; wide > c.col {
		style := c.cells[at].style
		c.col = at
		c.setCells(both, cells, style)
	}
	return true
}

// clusterStart is the cell whose text covers the cell at i.
func (c *terminal) clusterStart(i int) int {
	for i > 0 && c.cells[i].text == "" {
		i--
	}
	return i
}

func (c *terminal) put(text string, cells int) {
	if c.col+cells > maxRowCells {
		c.finishRows()
	}
	c.setCells(text, cells, c.sgr.style())
}

// setCells writes at the cursor. What it cuts in half becomes blank.
func (c *terminal) setCells(text string, cells int, style Style) {
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
			c.splitCluster(c.col)
		}
		for len(c.cells) < end {
			c.cells = append(c.cells, cell{})
		}
	} else {
		c.splitCluster(c.col)
		if end < len(c.cells) {
			c.splitCluster(end)
		}
	}
	c.cells[c.col] = cell{text, style}
	for i := c.col + 1; i < end; i++ {
		c.cells[i] = cell{style: style}
	}
	c.col = end
}

// splitCluster makes room before a cell that is not the first of its cluster.
func (c *terminal) splitCluster(i int) {
	if c.cells[i].text != "" {
		return
	}
	for k := c.clusterStart(i); k < len(c.cells) && (k <= i || c.cells[k].text == ""); k++ {
		c.cells[k].text = " "
	}
}

// markedRow is a row's text with its marks.
func markedRow(cells []cell) string {
	var out strings.Builder
	out.Grow(len(cells) + 2*maxMarkBytes)
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

// parseRow reads a row into the cells.
func (c *terminal) parseRow(row string) {
	c.cells, c.col = c.cells[:0], 0
	style := Style(0)
	for row != "" {
		if n, next := parseMark(row); n > 0 {
			style, row = next, row[n:]
			continue
		}
		n, cells := cluster(row)
		if row[0] == '\t' {
			cells = tabStop - c.col%tabStop
		}
		c.setCells(row[:n], max(cells, 1), style)
		row = row[n:]
	}
}

func (c *terminal) newline() {
	c.storeRow()
	if c.row == len(c.rows)-1 {
		c.appendRow()
	} else {
		c.switchRow(c.row + 1)
	}
	c.col = 0
}

// appendRow adds a row at the end and goes there; the first may become final.
func (c *terminal) appendRow() {
	if c.rows[c.row].inCells {
		c.cells = nil // they are the row's
	}
	c.rows = append(c.rows, liveRow{})
	if len(c.rows) > maxLiveRows {
		c.final.WriteString(joinRows(c.rows[:1]))
		c.final.WriteByte('\n')
		c.rows = c.rows[1:]
	}
	c.row, c.cells = len(c.rows)-1, c.cells[:0]
}

// finishRows makes all rows up to the cursor's final; its row goes on.
func (c *terminal) finishRows() {
	c.storeRow()
	c.final.WriteString(joinRows(c.rows[:c.row+1]))
	c.rows = append([]liveRow{{}}, c.rows[c.row+1:]...)
	c.row, c.cells, c.col = 0, nil, 0
}
