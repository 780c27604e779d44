package dashboard

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/ui"
)

// column is a part of a session's row, from left to right after the mark.
type column uint8

const (
	serverColumn column = iota
	statusColumn
	nameColumn
	agentColumn
	directoryColumn
	branchColumn
	activityColumn
	queueColumn
	tokensColumn
	costColumn
	timeColumn
	columnCount = int(timeColumn) + 1
)

// columnHeads are the headings of the columns.
var columnHeads = [columnCount]string{
	"server", "status", "name", "agent", "directory", "branch", "activity", "queue", "tokens", "cost", "active",
}

// columnWidths are the widths, in cells, of the columns other than name and activity.
var columnWidths = [columnCount]int{
	statusColumn: 11, agentColumn: 8, directoryColumn: 16, branchColumn: 14,
	queueColumn: 5, tokensColumn: 6, costColumn: 7, timeColumn: 6,
}

// Limits of columns in cells.
const (
	markWidth       = 3 // selection, mark and a space
	minName         = 14
	maxServer       = 12
	maxReason       = 36 // why a server is not connected
	maxName         = 28
	minActivity     = 12
	wantedActivity  = 32
	maxDirectory    = 32
	twoRowsBelow    = 80 // width of the screen below which a session takes two lines
	rightAlignedMin = queueColumn
)

// columns holds the widths of the columns of a row; 0 leaves a column out.
type columns [columnCount]int

// columns chooses the columns of the rows in an area.
func (t *table) columns(area tableArea) columns {
	width := area.width
	if area.beside {
		width-- // a gap before the preview
	}
	return columnsFor(width, area.beside, len(t.list.Sections()) > 0, t.servers.width(), t.branches.any())
}

// columnsFor chooses the columns of rows of a width. beside: the preview, which shows the activity,
// is beside the list. grouped: headings show the status of the rows below them. server is the width
// of the column of servers, or 0 if there is only one; the status, which shows the age of a row, is
// then preferred. branches: a branch is known.
func columnsFor(width int, beside, grouped bool, server int, branches bool) columns {
	c := columns{nameColumn: max(min(width/4, maxName), minName), timeColumn: columnWidths[timeColumn]}
	rest := width - markWidth - c[nameColumn] - 1 - c[timeColumn]
	order := []column{agentColumn, statusColumn, queueColumn, directoryColumn, tokensColumn, costColumn}
	reserve := wantedActivity + 1
	if beside {
		order = []column{agentColumn, directoryColumn, queueColumn, tokensColumn, costColumn, statusColumn}
		reserve = 0
	}
	if branches {
		order = append(order, branchColumn)
	}
	widths := columnWidths
	if grouped && server == 0 {
		order = slices.DeleteFunc(order, func(c column) bool { return c == statusColumn })
	}
	if server > 0 {
		widths[serverColumn] = server
		order = append([]column{serverColumn, statusColumn}, slices.DeleteFunc(order, func(c column) bool {
			return c == statusColumn
		})...)
	}
	for _, col := range order {
		if need := widths[col] + 1; rest-need >= reserve {
			c[col] = widths[col]
			rest -= need
		}
	}
	if grow := min(maxName-c[nameColumn], rest/2); beside && grow > 0 {
		c[nameColumn] += grow
		rest -= grow
	}
	if grow := min(maxDirectory-c[directoryColumn], (rest-wantedActivity-1)/3); c[directoryColumn] > 0 && grow > 0 {
		c[directoryColumn] += grow
		rest -= grow
	}
	switch {
	case rest > minActivity:
		c[activityColumn] = rest - 1
	case c[directoryColumn] > 0:
		c[directoryColumn] += max(rest, 0)
	default:
		c[nameColumn] += max(rest, 0)
	}
	return c
}

// line joins cells at the widths of the columns. style may change a cell after it has its width.
func (c *columns) line(cells *[columnCount]string, style func(column, string) string) string {
	var b strings.Builder
	first := true
	for i, width := range c {
		if width == 0 {
			continue
		}
		if !first {
			b.WriteByte(' ')
		}
		first = false
		cell := ui.Pad(cells[i], width)
		if column(i) >= rightAlignedMin {
			cell = ui.PadLeft(ui.Fit(cells[i], width), width)
		}
		b.WriteString(style(column(i), cell))
	}
	return b.String()
}

// fitMiddle truncates the middle of a path to width cells.
func fitMiddle(path string, width int) string {
	have := ansi.StringWidth(path)
	if have <= width || width < 5 {
		return ui.Fit(path, width)
	}
	head := (width - 1) / 3
	return ansi.Truncate(path, head, "") + ui.FitLeft(path, width-ansi.StringWidth(ansi.Truncate(path, head, "")))
}
