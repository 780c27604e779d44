package transcript

import (
	"strconv"
	"strings"
)

// control carries out a control sequence, as far as it concerns the live rows.
func (c *terminal) control(params string, final rune) {
	if final == 'm' {
		if strings.Trim(params, "0123456789;:") == "" {
			c.sgr.apply(params)
		}
		return
	}
	n, err := strconv.Atoi(params)
	if err != nil {
		if params != "" {
			return // what is private, or has more parameters
		}
		n = -1
	}
	switch count := min(max(n, 1), maxRowCells); final {
	case 'A':
		c.moveCursor(c.row-count, c.col)
	case 'B':
		c.moveCursor(c.row+count, c.col)
	case 'C':
		c.col = min(c.col+count, maxRowCells-1)
	case 'D':
		c.col = max(c.col-count, 0)
	case 'E':
		c.moveCursor(c.row+count, 0)
	case 'F':
		c.moveCursor(c.row-count, 0)
	case 'G':
		c.col = count - 1
	case 'J':
		if n <= 0 {
			c.eraseRight()
			clear(c.rows[c.row+1:])
			c.rows = c.rows[:c.row+1]
		}
	case 'K':
		c.erase(n)
	}
}

// moveCursor moves the cursor to another row, as far as there is one.
func (c *terminal) moveCursor(at, col int) {
	if at = min(max(at, 0), len(c.rows)-1); at != c.row {
		c.storeRow()
		c.switchRow(at)
	}
	c.col = col
}

func (c *terminal) erase(what int) {
	switch what {
	case 1:
		end := min(c.col+1, len(c.cells))
		if end < len(c.cells) {
			c.splitCluster(end)
		}
		for i := range end {
			c.cells[i] = cell{text: " "}
		}
	case 2:
		c.cells = c.cells[:0]
	default:
		c.eraseRight()
	}
}

func (c *terminal) eraseRight() {
	if c.col < len(c.cells) {
		c.splitCluster(c.col)
		c.cells = c.cells[:c.col]
	}
}
