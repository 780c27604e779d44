package transcript

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/text"
)

// columnGap is what stands between two columns of a table.
const columnGap = " │ "

// table renders a paragraph that is a table in columns; cells wrap when it is
// wider than there is room. It is nil for a paragraph that is none.
func (m *markdown) table(lines *text.Segments, width int) []string {
	raw := make([]string, lines.Len())
	for i := range raw {
		segment := lines.At(i)
		raw[i] = strings.TrimSpace(string(segment.Value(m.source)))
	}
	under := slices.IndexFunc(raw, isDelimiter)
	if under < 1 || len(splitRow(raw[under])) != len(splitRow(raw[under-1])) {
		return nil
	}
	var out []string
	if under > 1 {
		out = append(m.cell(strings.Join(raw[:under-1], "\n"), 0).flow(width, atWords), "")
	}
	columns := len(splitRow(raw[under]))
	rows := [][]*StyledText{m.cells(raw[under-1], columns, Strong)}
	for _, line := range raw[under+1:] {
		rows = append(rows, m.cells(line, columns, 0))
	}
	widths := columnWidths(rows, columns, width-ansi.StringWidth(columnGap)*(columns-1))
	if widths == nil {
		return append(out, m.cellsAlone(rows, width)...)
	}
	gap, sides := marked(columnGap, Faint), sidesOf(raw[under])
	for i, cells := range rows {
		out = append(out, m.row(cells, widths, sides, gap)...)
		if i == 0 {
			rule := make([]string, columns)
			for c, w := range widths {
				rule[c] = strings.Repeat("─", w)
			}
			out = append(out, marked(strings.Join(rule, "─┼─"), Faint))
		}
	}
	return out
}

// cells are the cells that a row has, at most as many as there are columns. Those
// it lacks are not made: short rows under a head of many columns would cost their
// product.
func (m *markdown) cells(line string, columns int, style Style) []*StyledText {
	var out []*StyledText
	for _, cell := range splitRow(line) {
		if len(out) == columns {
			break
		}
		out = append(out, m.cell(cell, style))
	}
	return out
}

// cell reads the inline content of a cell.
func (m *markdown) cell(source string, style Style) *StyledText {
	within := &markdown{source: []byte(source)}
	r := &StyledText{style: style}
	doc := inlineParser().Parse(text.NewReader(within.source))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		within.inline(n, r)
	}
	return r
}

// isDelimiter tells the line under a table's head: dashes in columns.
func isDelimiter(line string) bool {
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

// side is where the cells of a column stand.
type side uint8

const (
	atLeft   side = iota
	atRight       // ---:
	atMiddle      // :---:
)

// sidesOf reads them from the line under a table's head.
func sidesOf(line string) []side {
	cells := splitRow(line)
	out := make([]side, len(cells))
	for i, cell := range cells {
		switch {
		case !strings.HasSuffix(cell, ":"):
		case strings.HasPrefix(cell, ":"):
			out[i] = atMiddle
		default:
			out[i] = atRight
		}
	}
	return out
}

// splitRow cuts a row at its bars, but not at escaped ones, which lose their
// escape.
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

// row renders one row, as many lines high as its highest cell.
func (m *markdown) row(cells []*StyledText, widths []int, sides []side, gap string) []string {
	var columns [][]string
	height := 1
	for i, w := range widths {
		lines := []string{""}
		if i < len(cells) {
			lines = cells[i].flow(w, atWords)
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
			switch sides[x] {
			case atRight:
				before = room
			case atMiddle:
				before = room / 2
			case atLeft:
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

// columnWidths shares the room: every column gets what it wants, or the widest
// give way. It is nil when there is no room for a table.
func columnWidths(rows [][]*StyledText, columns, room int) []int {
	const least = 4
	if room < columns*least {
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
		widths[i] = min(widths[i], room)
		sum += widths[i]
	}
	for ; sum > room; sum-- {
		widths[slices.Index(widths, slices.Max(widths))]--
	}
	return widths
}

// cellsAlone is a table without room for its columns: every cell on lines of
// its own, after the name of its column, rows apart.
func (m *markdown) cellsAlone(rows [][]*StyledText, width int) []string {
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
			line.join(cell)
			out = append(out, line.flow(width, atWords)...)
		}
	}
	return out
}
