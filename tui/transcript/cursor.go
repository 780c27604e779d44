package transcript

import (
	"strconv"
	"strings"
)

// control carries out a control sequence, as far as it concerns the live rows.
func (c *console) control(params string, final rune) {
	if final == 'm' {
		if strings.Trim(params, "0123456789;:") == "" {
			c.pen.dress(params)
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
	switch count := min(max(n, 1), rowCells); final {
	case 'A':
		c.toRow(c.at-count, c.col)
	case 'B':
		c.toRow(c.at+count, c.col)
	case 'C':
		c.col = min(c.col+count, rowCells-1)
	case 'D':
		c.col = max(c.col-count, 0)
	case 'E':
		c.toRow(c.at+count, 0)
	case 'F':
		c.toRow(c.at-count, 0)
	case 'G':
		c.col = count - 1
	case 'J':
		if n <= 0 {
			c.eraseRight()
			clear(c.rows[c.at+1:])
			c.rows = c.rows[:c.at+1]
		}
	case 'K':
		c.erase(n)
	}
}

// toRow moves the cursor to another row, as far as there is one.
func (c *console) toRow(at, col int) {
	if at = min(max(at, 0), len(c.rows)-1); at != c.at {
		c.leave()
		c.enter(at)
	}
	c.col = col
}

func (c *console) erase(what int) {
	switch what {
	case 1:
		end := min(c.col+1, len(c.cells))
		if end < len(c.cells) {
			c.blank(end)
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

func (c *console) eraseRight() {
	if c.col < len(c.cells) {
		c.blank(c.col)
		c.cells = c.cells[:c.col]
	}
}
