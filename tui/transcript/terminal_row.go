package transcript

import "strings"

// cell is a grapheme cluster on a row. Empty cells follow a cluster wider than one cell.
type cell struct {
	text  string
	style Style
}

// joinsNext reports whether the cluster before the cursor ends with a zero-width joiner.
func (t *terminal) joinsNext() bool {
	return t.col > 0 && t.col <= len(t.cells) && strings.HasSuffix(t.cells[t.clusterStart(t.col-1)].text, "\u200d")
}

// extendCluster appends s to the cluster before the cursor. It returns false if s begins its
// own cluster.
func (t *terminal) extendCluster(s string) bool {
	if t.col > len(t.cells) || t.col == 0 {
		return false
	}
	at := t.clusterStart(t.col - 1)
	both := t.cells[at].text + s
	n, cells := cluster(both)
	if n < len(both) || len(both) > 64 {
		return n == len(both) // drop the rest of an overlong cluster
	}
	t.cells[at].text = both
	if wide := at + cells; wide > t.col {
		style := t.cells[at].style
		t.col = at
		t.setCells(both, cells, style)
	}
	return true
}

// clusterStart returns the index of the cell whose text covers cell i.
func (t *terminal) clusterStart(i int) int {
	for i > 0 && t.cells[i].text == "" {
		i--
	}
	return i
}

// put writes a cluster in the current SGR style.
func (t *terminal) put(text string, cells int) {
	if t.col+cells > maxRowCells {
		t.finishRows()
	}
	t.setCells(text, cells, t.sgr.style())
}

// setCells writes a cluster at the cursor and advances it. Wide clusters that it cuts become blank.
func (t *terminal) setCells(text string, cells int, style Style) {
	if gap := t.col - len(t.cells); gap > 0 {
		t.col -= max(0, gap-t.blanks)
		t.blanks -= min(gap, t.blanks)
		for len(t.cells) < t.col {
			t.cells = append(t.cells, cell{text: " "})
		}
	}
	end := t.col + cells
	if end > len(t.cells) {
		if t.col < len(t.cells) {
			t.splitCluster(t.col)
		}
		for len(t.cells) < end {
			t.cells = append(t.cells, cell{})
		}
	} else {
		t.splitCluster(t.col)
		if end < len(t.cells) {
			t.splitCluster(end)
		}
	}
	t.cells[t.col] = cell{text, style}
	for i := t.col + 1; i < end; i++ {
		t.cells[i] = cell{style: style}
	}
	t.col = end
}

// splitCluster blanks the cluster around cell i, unless the cluster begins there.
func (t *terminal) splitCluster(i int) {
	if t.cells[i].text != "" {
		return
	}
	for k := t.clusterStart(i); k < len(t.cells) && (k <= i || t.cells[k].text == ""); k++ {
		t.cells[k].text = " "
	}
}

// markedRow returns the text of a row with style marks.
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

// parseRow parses the text of a row into cells.
func (t *terminal) parseRow(row string) {
	t.cells, t.col = t.cells[:0], 0
	style := Style(0)
	for row != "" {
		if n, next := parseMark(row); n > 0 {
			style, row = next, row[n:]
			continue
		}
		n, cells := cluster(row)
		if row[0] == '\t' {
			cells = tabStop - t.col%tabStop
		}
		t.setCells(row[:n], max(cells, 1), style)
		row = row[n:]
	}
}
