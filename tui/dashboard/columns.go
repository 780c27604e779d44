package dashboard

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/sessionlist"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// column is a part of a session's row, from left to right after the mark.
type column uint8

const (
	serverColumn column = iota
	nameColumn
	activityColumn
	agentColumn
	directoryColumn
	branchColumn
	queueColumn
	tokensColumn
	costColumn
	timeColumn
	columnCount = int(timeColumn) + 1
)

// columnHeads are the headings of the columns.
var columnHeads = [columnCount]string{
	"server", "name", "activity", "agent", "directory", "branch", "queue", "tokens", "cost", "age",
}

// columnWidths are the widths, in cells, of the columns other than server, name and activity.
var columnWidths = [columnCount]int{
	agentColumn: 8, directoryColumn: 16, branchColumn: 14, queueColumn: 5, tokensColumn: 6, costColumn: 7, timeColumn: 4,
}

// optionalColumns are the columns that need not be there, the most wanted first.
var optionalColumns = []column{queueColumn, agentColumn, directoryColumn, branchColumn, tokensColumn, costColumn}

// Limits of columns in cells.
const (
	markWidth       = 3 // selection, mark and a space
	minName         = 14
	shortestName    = 8   // of all names
	measuredNames   = 100 // from the first one
	maxServer       = 12
	maxReason       = 36 // why a server is not connected
	maxName         = 40 // with the title
	wantedActivity  = 36 // before other columns, and two fifths of the row
	maxActivity     = 64 // before wider directories
	maxDirectory    = 32
	twoRowsBelow    = 80 // width of the screen below which a session takes two lines
	rightAlignedMin = queueColumn
)

// columns holds the widths of the columns of a row; 0 leaves a column out.
type columns [columnCount]int

// columns chooses the columns of the rows in an area. A column whose cells are all equal is left
// out. What the names of the first sessions leave of their column is given to the activity.
func (t *table) columns(area tableArea) columns {
	width := area.width
	if area.beside {
		width-- // a gap before the preview
	}
	values := [columnCount]sessionlist.Value{
		agentColumn: sessionlist.Agent, directoryColumn: sessionlist.Directory, queueColumn: sessionlist.Queue,
		tokensColumn: sessionlist.Tokens, costColumn: sessionlist.Cost,
	}
	c := columnsFor(width, t.servers.width(), func(c column) bool {
		if c == branchColumn {
			return t.branches.differ()
		}
		return t.list.Differ(values[c])
	})
	longest := shortestName
	for i := range min(t.list.Len(), measuredNames) {
		s := t.list.At(i)
		name, title := (&rowState{Family: t.list.Family(s.Session)}).title(&s, c[nameColumn])
		longest = max(longest, transcript.Width(name+title)+1)
	}
	longest = min(longest, c[nameColumn])
	c[nameColumn], c[activityColumn] = longest, c[activityColumn]+c[nameColumn]-longest
	return c
}

// columnsFor chooses the columns of rows of a width. The activity comes first, then the optional
// columns whose cells differ. server is the width of the column of servers, or 0 if there is only
// one.
func columnsFor(width, server int, differ func(column) bool) columns {
	c := columns{
		serverColumn: server, nameColumn: max(min(width*3/10, maxName), minName), timeColumn: columnWidths[timeColumn],
	}
	rest := width - markWidth - c[nameColumn] - 1 - c[timeColumn] - 1
	if server > 0 {
		rest -= server + 1
	}
	wanted := max(wantedActivity, width*2/5)
	for _, col := range optionalColumns {
		if need := columnWidths[col] + 1; rest-need >= wanted && differ(col) {
			c[col] = columnWidths[col]
			rest -= need
		}
	}
	if grow := min(maxDirectory-c[directoryColumn], rest-maxActivity); c[directoryColumn] > 0 && grow > 0 {
		c[directoryColumn] += grow
		rest -= grow
	}
	c[activityColumn] = rest
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
	have := transcript.Width(path)
	if have <= width || width < 5 {
		return ui.Fit(path, width)
	}
	head := (width - 1) / 3
	return ansi.Truncate(path, head, "") + ui.FitLeft(path, width-transcript.Width(ansi.Truncate(path, head, "")))
}
