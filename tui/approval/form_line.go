package approval

// formLine is a line of a form and the row that it belongs to.
type formLine struct {
	text  string
	row   formRow
	spots []spot // rows that it names side by side
	gap   bool   // an empty line, left out if there is no room
}

// spot is a part of a line, in cells, that names a row.
type spot struct {
	from, to int
	row      formRow
}

// rowAt returns the row at a column of a line.
func (l *formLine) rowAt(column int) formRow {
	for _, s := range l.spots {
		if column >= s.from && column < s.to {
			return s.row
		}
	}
	return l.row
}

// drawnForm records which lines of a form the last drawing showed.
type drawnForm struct {
	rows  int        // number of lines of the form
	lines []formLine // by line of the drawing; without a row: none of the form
}

// reset forgets the last drawing.
func (d *drawnForm) reset() { d.rows, d.lines = 0, d.lines[:0] }

// set records a form that is drawn below other lines.
func (d *drawnForm) set(above int, form []formLine) {
	d.rows = len(form)
	d.lines = append(append(d.lines[:0], make([]formLine, above)...), form...)
}

// cut records that only the first lines of the drawing are on the screen.
func (d *drawnForm) cut(lines int) { d.lines = d.lines[:min(len(d.lines), lines)] }

// rowAt returns the row at a cell of the drawing, or the zero row.
func (d *drawnForm) rowAt(line, column int) formRow {
	if line < 0 || line >= len(d.lines) {
		return formRow{}
	}
	return d.lines[line].rowAt(column - frameWidth/2)
}

// withoutGaps returns lines without the gaps, and the index of the line at.
func withoutGaps(lines []formLine, at int) (out []formLine, index int) {
	for i, line := range lines {
		if i == at {
			index = len(out)
		}
		if !line.gap {
			out = append(out, line)
		}
	}
	return out, index
}
