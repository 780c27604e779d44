package review

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/format"
	"agentctl/tui/diff"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// Sizes of the list of files.
const (
	filesWidth    = 36                       // beside the changes
	minSplitWidth = filesWidth + 1 + 3 + 110 // narrower views show the list in place of the changes
)

// fileList is the list of files and of the comments on them.
type fileList struct {
	*ui.Picker[fileRow]
	styles  *ui.Styles
	content Content
	focused bool
}

// fileRow is a row of the list: a file, or a comment on it.
type fileRow struct {
	file    int
	comment *Comment // nil: the file
}

// id returns the identity of a row.
func (r fileRow) id() string {
	if r.comment == nil {
		return fmt.Sprint(r.file)
	}
	return fmt.Sprintf("%d %+v", r.file, r.comment.Place)
}

// newFileList returns an empty list.
func newFileList(s *ui.Styles) *fileList {
	l := &fileList{styles: s}
	l.Picker = ui.NewPicker(s, ui.List[fileRow]{
		Rows: func(string) []fileRow { return l.rows() },
		ID:   fileRow.id,
		Draw: func(r fileRow, selected bool, width int) []string { return []string{l.line(r, selected, width)} },
	})
	return l
}

// rows returns the rows of the list.
func (l *fileList) rows() []fileRow {
	var out []fileRow
	byPath := map[string][]*Comment{}
	if c := l.content.Comments; c != nil {
		for i := range c.list {
			path := c.list[i].Place.Path
			byPath[path] = append(byPath[path], &c.list[i])
		}
	}
	for i, f := range l.content.Changes.Files() {
		out = append(out, fileRow{file: i})
		for _, comment := range byPath[f.Path()] {
			out = append(out, fileRow{i, comment})
		}
		delete(byPath, f.Path()) // shown once if a patch changes a file twice
	}
	return out
}

// selectFile selects the row of a file.
func (l *fileList) selectFile(file int) { l.Select(fileRow{file: file}.id()) }

// act carries out an action that moves in the list.
func (l *fileList) act(action keymap.Action) {
	switch action {
	case keymap.ReviewPreviousFile:
		action = keymap.Up
	case keymap.ReviewNextFile:
		action = keymap.Down
	case keymap.ReviewPageUp:
		action = keymap.ListPageUp
	case keymap.ReviewPageDown:
		action = keymap.ListPageDown
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
	if row.comment != nil {
		text := fmt.Sprintf("   ┕ %d: %s", row.comment.Place.Line, row.comment.Text)
		return l.styles.Warning.Render(ui.Fit(text, width))
	}
	f := l.content.Changes.Files()[row.file]
	mark := "  "
	if l.content.Unread {
		mark = l.styles.Success.Render("✓ ")
		if l.content.Changes.Unseen(row.file) > 0 {
			mark = l.styles.Warning.Render("○ ")
		}
	}
	stat := " " + statOf(f)
	room := max(1, width-2-gutterWidth-ansi.StringWidth(stat))
	path := ui.Pad(ui.FitLeft(format.JoinLines(f.Path()), room), room)
	return mark + l.styles.Dim.Render(gutter) + path + l.styles.Dim.Render(stat)
}

// hint returns the keys that act on the list.
func (l *fileList) hint() string {
	pairs := []any{keymap.Choose, "open"}
	if l.content.commented() {
		pairs = append(pairs, keymap.ReviewComment, "edit comment", keymap.ReviewRemove, "remove")
	}
	return l.styles.Keys.Hint(pairs...)
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
