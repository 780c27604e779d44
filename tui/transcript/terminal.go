package transcript

import (
	"strings"
	"unicode/utf8"
)

const (
	maxLiveRows   = 32   // rows that a cursor movement can reach
	maxRowCells   = 2048 // cells of a row that a cursor movement can reach
	maxParamBytes = 64   // of a control sequence

	// A cursor movement past the end of a row creates blank cells without writing them. A budget
	// bounds them: an initial amount, and more with each rune written.
	initialBlanks, blanksPerRune, maxBlanks = 4096, 4, 1 << 16
)

// terminal emulates a terminal that a program writes to. It applies carriage return, backspace,
// tab, cursor movement within the live rows, erasing and SGR colours; it ignores other sequences.
// Rows that the cursor cannot reach any more are final.
type terminal struct {
	cleaner Cleaner
	params  []byte          // of the current control sequence
	final   strings.Builder // final rows since the last takeFinal

	rows   []liveRow // rows[row] is stale: its cells are in cells
	row    int       // cursor
	cells  []cell    // of the cursor's row
	col    int       // cursor; can be past the end of cells
	blanks int       // budget of blank cells
	sgr    sgrState
}

// liveRow is a row that can still change. After the cursor returned to a row, the row stays parsed,
// so that repeated cursor movements are cheap.
type liveRow struct {
	text   string // with marks
	cells  []cell
	parsed bool // the row is in cells
}

func newTerminal() *terminal { return &terminal{rows: make([]liveRow, 1), blanks: initialBlanks} }

// takeFinal returns the rows that became final since the last call.
func (t *terminal) takeFinal() string {
	s := t.final.String()
	t.final.Reset()
	return s
}

// live returns the rows that can still change.
func (t *terminal) live() string {
	t.storeRow()
	return joinRows(t.rows)
}

func joinRows(rows []liveRow) string {
	var out strings.Builder
	for i := range rows {
		if i > 0 {
			out.WriteByte('\n')
		}
		if rows[i].parsed {
			out.WriteString(markedRow(rows[i].cells))
		} else {
			out.WriteString(rows[i].text)
		}
	}
	return out.String()
}

// storeRow copies cells back to the cursor's row.
func (t *terminal) storeRow() {
	if r := &t.rows[t.row]; r.parsed {
		r.cells = t.cells
	} else {
		r.text = markedRow(t.cells)
	}
}

// switchRow moves the cursor to another row and parses it. The caller has stored the current row.
func (t *terminal) switchRow(row int) {
	if t.rows[t.row].parsed {
		t.cells = nil // owned by that row
	}
	t.row = row
	r := &t.rows[row]
	if r.parsed {
		t.cells = r.cells
		return
	}
	t.parseRow(r.text)
	r.parsed = true
}

// write handles the next part of the output. A rune must not be cut between two parts.
func (t *terminal) write(s string) {
	for s != "" {
		n := strings.IndexByte(s, '\n') + 1
		if n == 0 || !t.writePlainRow(s[:n-1]) {
			if n == 0 {
				n = len(s)
			}
			for _, r := range s[:n] {
				for !t.step(r) {
				}
			}
		}
		s = s[n:]
	}
}

// writePlainRow is the fast path for a plain line on a new row. It returns false if the line is not
// plain or the row is not new.
func (t *terminal) writePlainRow(row string) bool {
	newRow := len(t.cells) == 0 && t.col == 0 && t.row == len(t.rows)-1 && !t.rows[t.row].parsed
	plain := len(row)*tabStop <= maxRowCells && t.sgr == (sgrState{}) && t.cleaner.state == inText
	if !newRow || !plain || !isClean(row) {
		return false
	}
	t.cleaner.setBase('\n')
	t.rows[t.row].text = row
	t.appendRow()
	t.blanks = min(t.blanks+blanksPerRune*(len(row)+1), maxBlanks)
	return true
}

// step handles r. If it returns false, the state changed and r must be passed again.
func (t *terminal) step(r rune) bool {
	switch t.cleaner.state {
	case inText:
		switch r {
		case '\r':
			t.col = 0
			return true
		case '\b':
			t.col = max(0, t.col-1)
			return true
		case 0x9b:
			t.params = t.params[:0]
		}
	case inEscape:
		t.params = t.params[:0]
	case inSequence:
		switch {
		case r >= 0x40 && r <= 0x7e:
			t.control(string(t.params), r)
		case r >= 0x20 && r < 0x40 && len(t.params) < maxParamBytes:
			t.params = append(t.params, byte(r))
		}
	}
	return t.cleaner.step(t, r)
}

// WriteRune writes a clean rune at the cursor.
func (t *terminal) WriteRune(r rune) (int, error) {
	t.blanks = min(t.blanks+blanksPerRune, maxBlanks)
	switch {
	case r == '\n':
		t.newline()
	case r == '\t':
		t.put("\t", tabStop-t.col%tabStop)
	case r < utf8.RuneSelf:
		t.put(ascii[r:r+1], 1)
	default:
		s := string(r)
		if ideograph := r >= 0x3400 && r <= 0x9fff; ideograph && !t.joinsNext() || !t.extendCluster(s) {
			if _, cells := cluster(s); cells > 0 {
				t.put(s, cells)
			}
		}
	}
	return 0, nil
}

// ascii holds all runes of one byte. Slicing it avoids an allocation per rune.
var ascii = func() string {
	var b [utf8.RuneSelf]byte
	for i := range b {
		b[i] = byte(i)
	}
	return string(b[:])
}()

func (t *terminal) newline() {
	t.storeRow()
	if t.row == len(t.rows)-1 {
		t.appendRow()
	} else {
		t.switchRow(t.row + 1)
	}
	t.col = 0
}

// appendRow adds a row at the end and moves the cursor there. The first row may become final.
func (t *terminal) appendRow() {
	if t.rows[t.row].parsed {
		t.cells = nil // owned by that row
	}
	t.rows = append(t.rows, liveRow{})
	if len(t.rows) > maxLiveRows {
		t.final.WriteString(joinRows(t.rows[:1]))
		t.final.WriteByte('\n')
		t.rows = t.rows[1:]
	}
	t.row, t.cells = len(t.rows)-1, t.cells[:0]
}

// finishRows makes all rows up to the cursor final. Output continues on an empty row.
func (t *terminal) finishRows() {
	t.storeRow()
	t.final.WriteString(joinRows(t.rows[:t.row+1]))
	t.rows = append([]liveRow{{}}, t.rows[t.row+1:]...)
	t.row, t.cells, t.col = 0, nil, 0
}
