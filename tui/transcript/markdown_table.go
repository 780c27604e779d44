package transcript

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/text"
)

// columnGap separates the columns of a table, tableMargin is on both sides of it.
const (
	columnGap   = " │ "
	tableMargin = 1 // cells
)

// table renders a paragraph that is a table. Cells wrap if the table is wider than width. It
// returns nil for other paragraphs.
func (m *markdownRenderer) table(lines *text.Segments, width int) []string {
	raw := make([]string, lines.Len())
	for i := range raw {
		segment := lines.At(i)
		raw[i] = strings.TrimSpace(string(segment.Value(m.source)))
	}
	delimiter := slices.IndexFunc(raw, isDelimiterRow)
	if delimiter < 1 || len(splitRow(raw[delimiter])) != len(splitRow(raw[delimiter-1])) {
		return nil
	}
	var out []string
	if delimiter > 1 {
		out = append(m.tableCell(strings.Join(raw[:delimiter-1], "\n"), 0).wrap(width, breakAtWords), "")
	}
	columns := len(splitRow(raw[delimiter]))
	rows := [][]*StyledText{m.tableCells(raw[delimiter-1], columns, Strong)}
	for _, line := range raw[delimiter+1:] {
		rows = append(rows, m.tableCells(line, columns, 0))
	}
	ground := 2*tableMargin + ansi.StringWidth(columnGap)*(columns-1)
	widths := columnWidths(rows, columns, width-ground)
	if widths == nil {
		return append(out, m.stackedTable(rows, width)...)
	}
	gap, aligns, above := withMark(columnGap, Faint), alignments(raw[delimiter]), len(out)
	for i, cells := range rows {
		out = append(out, m.tableRow(cells, widths, aligns, gap)...)
		if i == 0 {
			rule := make([]string, columns)
			for c, w := range widths {
				rule[c] = strings.Repeat("─", w)
				ground += w
			}
			out = append(out, withMark(strings.Join(rule, "─┼─"), Faint))
		}
	}
	margin := strings.Repeat(" ", tableMargin)
	for i := above; i < len(out); i++ {
		out[i] = onGround(margin+out[i], ground)
	}
	return out
}

// tableCells parses the cells of a row, at most one per column. It does not pad short rows: with
// hostile input, rows times columns is quadratic in its size.
func (m *markdownRenderer) tableCells(line string, columns int, style Style) []*StyledText {
	var out []*StyledText
	for _, cell := range splitRow(line) {
		if len(out) == columns {
			break
		}
		out = append(out, m.tableCell(cell, style))
	}
	return out
}

// tableCell renders the inline content of a cell.
func (m *markdownRenderer) tableCell(source string, style Style) *StyledText {
	inner := &markdownRenderer{source: []byte(source)}
	r := &StyledText{style: style}
	doc := inlineParser().Parse(text.NewReader(inner.source))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		inner.writeInline(n, r)
	}
	return r
}

// isDelimiterRow reports whether a line is the one under a table's header: dashes in columns.
func isDelimiterRow(line string) bool {
	if !strings.Contains(line, "|") {
		return false
	}
	for _, cell := range splitRow(line) {
		dashes := strings.TrimSuffix(strings.TrimPrefix(cell, ":"), ":")
		if dashes == "" || strings.Trim(dashes, "-") != "" {
			return false
		}
	}
	return true
}

// alignment is the alignment of a column.
type alignment uint8

const (
	alignLeft   alignment = iota
	alignRight            // ---:
	alignCenter           // :---:
)

// alignments parses the alignments of a delimiter row.
func alignments(line string) []alignment {
	cells := splitRow(line)
	out := make([]alignment, len(cells))
	for i, cell := range cells {
		switch {
		case !strings.HasSuffix(cell, ":"):
		case strings.HasPrefix(cell, ":"):
			out[i] = alignCenter
		default:
			out[i] = alignRight
		}
	}
	return out
}

// splitRow splits a row at its bars and unescapes escaped bars.
func splitRow(line string) []string {
	line = strings.TrimPrefix(strings.TrimSpace(line), "|")
	if strings.HasSuffix(line, "|") && !strings.HasSuffix(line, `\|`) {
		line = line[:len(line)-1]
	}
	var out []string
	var cell strings.Builder
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line) && line[i+1] == '|':
			cell.WriteByte('|')
			i++
		case line[i] == '|':
			out = append(out, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			cell.WriteByte(line[i])
		}
	}
	return append(out, strings.TrimSpace(cell.String()))
}

// tableRow renders a row. It has as many lines as its highest cell.
func (m *markdownRenderer) tableRow(cells []*StyledText, widths []int, aligns []alignment, gap string) []string {
	var columns [][]string
	height := 1
	for i, w := range widths {
		lines := []string{""}
		if i < len(cells) {
			lines = cells[i].wrap(w, breakAtWords)
		}
		columns = append(columns, lines)
		height = max(height, len(lines))
	}
	out := make([]string, height)
	for y := range out {
		var line strings.Builder
		for x, lines := range columns {
			if x > 0 {
				line.WriteString(gap)
			}
			cell := ""
			if y < len(lines) {
				cell = lines[y]
			}
			room := max(0, widths[x]-ansi.StringWidth(cell))
			before := 0
			switch aligns[x] {
			case alignRight:
				before = room
			case alignCenter:
				before = room / 2
			case alignLeft:
			}
			line.WriteString(strings.Repeat(" ", before) + cell)
			if x < len(columns)-1 {
				line.WriteString(strings.Repeat(" ", room-before))
			}
		}
		out[y] = line.String()
	}
	return out
}

// columnWidths distributes the width of a table. If the cells do not fit, it shrinks the widest
// columns. It returns nil if the columns do not fit at their minimum width.
func columnWidths(rows [][]*StyledText, columns, width int) []int {
	const minWidth = 4
	if width < columns*minWidth {
		return nil
	}
	widths := make([]int, columns)
	for _, cells := range rows {
		for i, c := range cells {
			widths[i] = max(widths[i], 1, ansi.StringWidth(c.text.String()))
		}
	}
	sum := 0
	for i := range widths {
		widths[i] = min(widths[i], width)
		sum += widths[i]
	}
	for ; sum > width; sum-- {
		widths[slices.Index(widths, slices.Max(widths))]--
	}
	return widths
}

// stackedTable renders a table that is too wide for columns: each cell on its own lines behind the
// name of its column, with a blank line between rows.
func (m *markdownRenderer) stackedTable(rows [][]*StyledText, width int) []string {
	var out []string
	names := make([]string, len(rows[0]))
	if len(rows) > 1 {
		for i, head := range rows[0] {
			if name := head.text.String(); name != "" {
				names[i] = ansi.Truncate(name, max(width/2, 1), "…") + ": "
			}
		}
		rows = rows[1:]
	}
	for i, cells := range rows {
		if i > 0 {
			out = append(out, "")
		}
		for c, cell := range cells {
			line := &StyledText{}
			line.Append(names[c], Strong)
			line.appendText(cell)
			out = append(out, line.wrap(width, breakAtWords)...)
		}
	}
	return out
}
