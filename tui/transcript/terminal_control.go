package transcript

import (
	"strconv"
	"strings"
)

// control executes a control sequence on the live rows, or ignores it.
func (t *terminal) control(params string, final rune) {
	if final == 'm' {
		if strings.Trim(params, "0123456789;:") == "" {
			t.sgr.apply(params)
		}
		return
	}
	n, err := strconv.Atoi(params)
	if err != nil {
		if params != "" {
			return // a private sequence, or several parameters
		}
		n = -1
	}
	switch count := min(max(n, 1), maxRowCells); final {
	case 'A':
		t.moveCursor(t.row-count, t.col)
	case 'B':
		t.moveCursor(t.row+count, t.col)
	case 'C':
		t.col = min(t.col+count, maxRowCells-1)
	case 'D':
		t.col = max(t.col-count, 0)
	case 'E':
		t.moveCursor(t.row+count, 0)
	case 'F':
		t.moveCursor(t.row-count, 0)
	case 'G':
		t.col = count - 1
	case 'J':
		if n <= 0 {
			t.eraseRight()
			clear(t.rows[t.row+1:])
			t.rows = t.rows[:t.row+1]
		}
	case 'K':
		t.erase(n)
	}
}

// moveCursor moves the cursor to a row, or the nearest live one, and a column.
func (t *terminal) moveCursor(row, col int) {
	if row = min(max(row, 0), len(t.rows)-1); row != t.row {
		t.storeRow()
		t.switchRow(row)
	}
	t.col = col
}

// erase executes EL: 1 erases up to the cursor, 2 the whole row, others from the cursor on.
func (t *terminal) erase(mode int) {
	switch mode {
	case 1:
		end := min(t.col+1, len(t.cells))
		if end < len(t.cells) {
			t.splitCluster(end)
		}
		for i := range end {
			t.cells[i] = cell{text: " "}
		}
	case 2:
		t.cells = t.cells[:0]
	default:
		t.eraseRight()
	}
}

func (t *terminal) eraseRight() {
	if t.col < len(t.cells) {
		t.splitCluster(t.col)
		t.cells = t.cells[:t.col]
	}
}
