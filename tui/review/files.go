package review

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/diff"
	"agentctl/tui/filechange"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// Sizes of the list of files.
const (
	filesWidth    = 36                       // beside the changes
	minSplitWidth = filesWidth + 1 + 3 + 110 // narrower views show the list in place of the changes
)

// fileList is the list of files.
type fileList struct {
	*ui.Picker[fileRow]
	styles  *ui.Styles
	content Content
	focused bool
}

// fileRow is a row of the list: a directory or a file of the tree, or a file that only git status lists.
type fileRow struct {
	filechange.TreeRow
	git *protocol.DirectoryFile // nil: a row of the tree
}

// id returns the identity of a row.
func (r fileRow) id() string {
	switch {
	case r.git != nil:
		return "git " + r.git.Path
	case r.Directory != "":
		return r.Directory
	}
	return fmt.Sprint(r.File)
}

// isFile reports whether the row is a file of the tree.
func (r fileRow) isFile() bool { return r.git == nil && r.Directory == "" }

// newFileList returns an empty list.
func newFileList(s *ui.Styles) *fileList {
	l := &fileList{styles: s}
	l.Picker = ui.NewPicker(s, ui.List[fileRow]{
		Rows:  func(string) []fileRow { return l.rows() },
		ID:    fileRow.id,
		Draw:  func(r fileRow, selected bool, width int) []string { return []string{l.line(r, selected, width)} },
		Empty: func(string) string { return " no files were changed" },
	})
	return l
}

// rows returns the rows of the list.
func (l *fileList) rows() []fileRow {
	var out []fileRow
	files := l.content.Changes.Files()
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path()
	}
	var git []protocol.DirectoryFile
	if l.content.Git != nil {
		git = l.content.Git()
	}
	tree, others := filechange.Tree(paths, l.content.Directory, git)
	for _, row := range tree {
		out = append(out, fileRow{TreeRow: row})
	}
	for i := range others {
		out = append(out, fileRow{git: &others[i]})
	}
	return out
}

// selectFile selects the row of a file.
func (l *fileList) selectFile(file int) { l.Select(fmt.Sprint(file)) }

// act carries out an action that moves in the list.
func (l *fileList) act(action keymap.Action) {
	switch action {
	case keymap.Previous:
		action = keymap.Up
	case keymap.Next:
		action = keymap.Down
	case keymap.PagerPageDown:
		action = keymap.PageDown
	}
	l.Act(action)
}

// lines draws the list. Without the focus the current file is selected.
func (l *fileList) lines(current, width, height int) []string {
	if !l.focused {
		l.selectFile(current)
	}
	out := l.Lines(width, height)
	for len(out) < height {
		out = append(out, strings.Repeat(" ", max(0, width)))
	}
	return out
}

// line draws a row of the list.
func (l *fileList) line(row fileRow, selected bool, width int) string {
	line := ui.Pad(l.text(row, width), width)
	switch {
	case selected && l.focused:
		return l.styles.Selected.Render(ansi.Strip(line))
	case selected:
		return l.styles.Bold.Render(ansi.Strip(line))
	}
	return line
}

// text returns the text of a row.
func (l *fileList) text(row fileRow, width int) string {
	if row.git != nil {
		return "  " + l.styles.Dim.Render(gutter) + filechange.GitLine(l.styles, row.git, max(1, width-2-gutterWidth))
	}
	mark, stat := "  ", ""
	if row.Letter != "" {
		mark = l.styles.Dim.Render(" " + row.Letter)
	}
	if row.Directory == "" {
		stat = l.styles.Dim.Render(statOf(l.content.Changes.Files()[row.File]))
		if l.content.Unread {
			mark = l.styles.Success.Render(" ✓")
			if l.content.Changes.Unseen(row.File) > 0 {
				mark = l.styles.Warning.Render(" ○")
			}
		}
	}
	return mark + l.styles.Dim.Render(gutter) + row.Line(l.styles, stat, max(1, width-2-gutterWidth))
}

// statOf returns what changes in a file.
func statOf(f *diff.File) string {
	added, removed := f.Stat()
	stat := fmt.Sprintf("+%d −%d", added, removed)
	switch status := f.Status(); status {
	case diff.Modified:
		return stat
	case diff.Binary, diff.ModeOnly, diff.NoChanges:
		return string(status)
	default:
		return string(status) + " " + stat
	}
}
