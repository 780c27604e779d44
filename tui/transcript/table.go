package transcript

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// columnGap is what stands between two columns of a table.
const columnGap = " │ "

// table renders a table in columns; cells wrap when it is wider than there is
// room.
func (m *markdown) table(t *east.Table, width int) []string {
	var rows [][]*run
	columns := 0
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []*run
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			r := &run{}
			if _, head := row.(*east.TableHeader); head {
				r.style = Strong
			}
			m.inline(cell, r)
			cells = append(cells, r)
		}
		rows = append(rows, cells)
		columns = max(columns, len(cells))
	}
	if columns == 0 {
		return nil
	}
	widths := columnWidths(rows, columns, width-ansi.StringWidth(columnGap)*(columns-1))
	if widths == nil {
		return m.cellsAlone(t, width)
	}
	gap := m.dress(columnGap, Faint)
	var out []string
	for i, cells := range rows {
		out = append(out, m.row(cells, widths, gap)...)
		if i == 0 {
			var rule []string
			for _, w := range widths {
				rule = append(rule, strings.Repeat("─", w))
			}
			out = append(out, m.dress(strings.Join(rule, "─┼─"), Faint))
		}
	}
	return out
}

// row renders one row, as many lines high as its highest cell.
func (m *markdown) row(cells []*run, widths []int, gap string) []string {
	var columns [][]string
	height := 1
	for i, w := range widths {
		lines := []string{""}
		if i < len(cells) {
			lines = cells[i].flow(w, atWords, m.dress)
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
			line.WriteString(cell)
			if x < len(columns)-1 {
				line.WriteString(strings.Repeat(" ", max(0, widths[x]-ansi.StringWidth(cell))))
			}
		}
		out[y] = line.String()
	}
	return out
}

// columnWidths shares the room: every column gets what it wants, or the widest
// give way. It is nil when there is no room for a table.
func columnWidths(rows [][]*run, columns, room int) []int {
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
// its own, rows apart.
func (m *markdown) cellsAlone(t ast.Node, width int) []string {
	var out []string
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		if len(out) > 0 {
			out = append(out, "")
		}
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			out = append(out, m.words(cell, width, 0)...)
		}
	}
	return out
}
