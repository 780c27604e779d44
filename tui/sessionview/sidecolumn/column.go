package sidecolumn

import (
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/filechange"
	"agentctl/tui/remote"
	"agentctl/tui/request"
	"agentctl/tui/sessionview/replica"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// Widths of a screen from which it has a side column, and widths of the column.
const (
	minScreen   = transcript.MaxProse + ui.Indent + narrowWidth + 1 // prose has its full width
	wideScreen  = 160
	narrowWidth = 36
	wideWidth   = 44
)

// maxFiles is the maximum number of rows of changed files in the side column.
const maxFiles = 100

// Options configure the column.
type Options struct {
	Hidden   *bool             // shared by the views of a program; nil: false
	OnChange func(hidden bool) // called, as a task, when the user shows or hides it; may be nil
}

// Section returns the title of a section, a note beside it, and its lines. A section without lines
// is left out.
type Section func(width int) (title, note string, lines []string)

// Column shows sections of panels, the changed files and the people of the session beside the transcript,
// or over it on a narrow screen. It is left out without lines of panels and files.
type Column struct {
	Options
	styles     *ui.Styles
	replica    *replica.Session
	commands   *request.Sender
	transcript *transcriptview.View
	sections   []Section
	causes     int // number of the first sections that make the column appear

	// Git returns what git status lists in the session's directory.
	Git func() []protocol.DirectoryFile

	offset int // first visible line
}

// New returns a column that begins with the given sections.
func New(
	o Options, s *ui.Styles, r *replica.Session, commands *request.Sender, t *transcriptview.View, first ...Section,
) *Column {
	if o.Hidden == nil {
		o.Hidden = new(bool)
	}
	c := &Column{Options: o, styles: s, replica: r, commands: commands, transcript: t}
	c.Git = func() []protocol.DirectoryFile { return nil }
	c.sections = append(first, c.fileSection, c.gitSection, c.peopleSection)
	c.causes = len(first) + 1
	return c
}

// Width returns the width of the column on a screen, with its left border. It is 0 if the column is
// not shown.
func (c *Column) Width(screen int) int {
	if !c.hasCause() {
		return 0
	}
	return c.reserved(screen)
}

// hasCause reports whether the column has lines of panels or files.
func (c *Column) hasCause() bool {
	return slices.ContainsFunc(c.sections[:c.causes], func(section Section) bool {
		_, _, lines := section(narrowWidth)
		return len(lines) > 0
	})
}

// Beyond returns the width that the column leaves to text on a screen, with a gap, whether it is shown
// or not.
func (c *Column) Beyond(screen int) int {
	if reserved := c.reserved(screen); reserved > 0 {
		return screen - reserved - 1
	}
	return screen
}

// reserved returns the width of the column on a screen once it has content.
func (c *Column) reserved(screen int) int {
	switch {
	case *c.Hidden || screen < minScreen:
		return 0
	case screen < wideScreen:
		return narrowWidth
	}
	return wideWidth
}

// Scroll moves the visible lines by a number of lines.
func (c *Column) Scroll(by int) { c.offset = max(0, c.offset+by) }

// view returns exactly rows lines of the column.
func (c *Column) view(width, rows int) []string {
	all := c.lines(width)
	c.offset = max(0, min(c.offset, len(all)-rows))
	shown := all[c.offset:min(len(all), c.offset+rows)]
	out := append(make([]string, 0, rows), shown...)
	if below := len(all) - c.offset - rows; below > 0 && rows > 1 {
		out[rows-1] = c.styles.Dim.Render(" ↓ " + format.Count(below+1, "more line"))
	}
	for len(out) < rows {
		out = append(out, "")
	}
	return out
}

// Beside puts the column, with a border or between grounds a gap, beside lines of a width.
func (c *Column) Beside(lines []string, width, column int) []string {
	border := " "
	if !c.styles.Grounds() {
		border = c.styles.Border.Render("│")
	}
	side := c.view(column-1, len(lines))
	for i, line := range lines {
		line = ui.Sanitize(line)
		cells := transcript.Width(line)
		if cells > width {
			line = ansi.Truncate(line, width, "")
			cells = transcript.Width(line)
		}
		lines[i] = line + strings.Repeat(" ", width-cells) + border + side[i]
	}
	return lines
}

// Rows and the title of a section is the list of the rows of that section; see [ui.RowMsg].
const Rows = "side "

// lines returns all sections, with a blank line between them.
func (c *Column) lines(width int) []string {
	var out []string
	for _, section := range c.sections {
		title, note, lines := section(width)
		if len(lines) == 0 {
			continue
		}
		if len(out) > 0 {
			out = append(out, "")
		}
		head := " " + c.styles.User.Render(title)
		out = append(out, ui.Fit(head+c.styles.Dim.Render(ui.Prefixed(" ", note)), width))
		for i, line := range lines {
			out = append(out, c.styles.Keys.MarkRow(Rows+title, i, ui.Fit(line, width)))
		}
	}
	return out
}

// fileTree returns the changed files, their rows, and what git status lists beside them.
func (c *Column) fileTree() ([]transcriptview.ChangedFile, []filechange.TreeRow, []protocol.DirectoryFile) {
	files := c.transcript.ChangedFiles()
	paths := make([]string, len(files))
	for i := range files {
		paths[i] = files[i].Path
	}
	rows, others := filechange.Tree(paths, c.replica.State.CWD, c.Git())
	return files, rows, others
}

// fileSection returns the changed files as a tree.
func (c *Column) fileSection(width int) (title, note string, lines []string) {
	files, rows, _ := c.fileTree()
	for _, row := range rows[:min(len(rows), maxFiles)] {
		stat := ""
		if row.Directory == "" {
			f := &files[row.File]
			stat = c.styles.Dim.Render(row.Letter) + ui.Prefixed(" ", filechange.Counts(c.styles, f.Added, f.Removed))
		}
		lines = append(lines, " "+row.Line(c.styles, stat, width-1))
	}
	return "files", strconv.Itoa(len(files)), lines
}

// gitSection returns what git status lists beside the changed files.
func (c *Column) gitSection(width int) (title, note string, lines []string) {
	_, _, others := c.fileTree()
	for i := range others[:min(len(others), maxFiles)] {
		lines = append(lines, " "+filechange.GitLine(c.styles, &others[i], width-1))
	}
	return "git", strconv.Itoa(len(others)), lines
}

// Files returns the number of changed files and of their lines, or "".
func (c *Column) Files() string {
	files := c.transcript.ChangedFiles()
	if len(files) == 0 {
		return ""
	}
	added, removed := 0, 0
	for _, f := range files {
		added, removed = added+f.Added, removed+f.Removed
	}
	return format.Count(len(files), "file") + " " + filechange.Counts(c.styles, added, removed)
}

// File returns the path of the file in a line of the section of files, or of the first file of a
// directory.
func (c *Column) File(line int) string {
	files, rows, _ := c.fileTree()
	if line >= len(rows) {
		return ""
	}
	return files[rows[line].File].Path
}

// peopleSection returns the connected clients, unless this one is alone.
func (c *Column) peopleSection(width int) (title, note string, lines []string) {
	clients := c.replica.Clients
	if len(clients) < 2 {
		return "", "", nil
	}
	for id := range clients {
		client := clients[id]
		line := " " + c.styles.Success.Render("●") + " " + transcript.CleanLine(remote.ActorName(&client.By))
		if id == c.replica.Conn.Connection {
			line += c.styles.Dim.Render(" (you)")
		}
		if client.Agent != "" {
			line += c.styles.Dim.Render(" " + transcript.CleanLine(client.Agent))
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return "people", strconv.Itoa(len(clients)), lines
}
