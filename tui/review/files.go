package review

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/format"
	"agentctl/tui/diff"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
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
	focused bool
	folded  map[int]bool // files whose lines are hidden
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

// newFileList returns the list of the files of a view.
func newFileList(v *View) fileList {
	return fileList{Picker: ui.NewPicker(v.styles, ui.List[fileRow]{
		Rows: func(string) []fileRow { return v.fileRows() },
		ID:   fileRow.id,
		Draw: func(r fileRow, selected bool, width int) []string { return []string{v.fileLine(r, selected, width)} },
	})}
}

// fileRows returns the rows of the list.
func (v *View) fileRows() []fileRow {
	var out []fileRow
	byPath := map[string][]*Comment{}
	if c := v.content.Comments; c != nil {
		for i := range c.list {
			path := c.list[i].Place.Path
			byPath[path] = append(byPath[path], &c.list[i])
		}
	}
	for i, f := range v.content.Changes.Files() {
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

// pressFiles handles an action on the list of files.
func (v *View) pressFiles(action keymap.Action) {
	row, ok := v.files.Selected()
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
	switch action {
	case keymap.Back:
		v.files.focused = false
	case keymap.Choose:
		if ok {
			v.openRow(row)
		}
		v.files.focused = false
	case keymap.ReviewComment, keymap.ReviewRemove:
		switch {
		case !ok || row.comment == nil:
			v.message = "select a comment"
		case action == keymap.ReviewComment:
			v.place = row.comment.Place
			v.startInput()
		default:
			v.place = row.comment.Place
			v.setComment("")
		}
	case keymap.ReviewUnread:
		v.pressBody(action)
	default:
		v.files.Act(action)
	}
}

// openRow shows the file or the comment of a row.
func (v *View) openRow(row fileRow) {
	if comment := row.comment; comment != nil {
		first := v.content.Changes.HeaderOf(row.file)
		for i := first; i < len(v.items) && v.content.Changes.FileOf(i) == row.file; i++ {
			if line, ok := v.items[i].rowOf(comment.Place, v.bodyWidth()); ok {
				v.show(transcript.Point{Item: v.first() + transcript.ID(i), Line: line})
				return
			}
		}
	}
	v.show(v.start(row.file))
}

// rowOf returns the first row that shows a line of the patch.
func (p *pieceItem) rowOf(place Place, width int) (row int, ok bool) {
	for i, r := range p.layout(width) {
		for _, at := range p.places(r.line) {
			if at == place {
				return i, true
			}
		}
	}
	return 0, false
}

// filesView draws the list of files.
func (v *View) filesView(width, height int) []string {
	if !v.files.focused {
		v.files.selectFile(v.currentFile())
	}
	out := v.files.Lines(width, height)
	for len(out) < height {
		out = append(out, strings.Repeat(" ", max(0, width)))
	}
	return out
}

// fileLine draws a row of the list.
func (v *View) fileLine(row fileRow, selected bool, width int) string {
	line := ui.Pad(v.fileText(row, width), width)
	switch {
	case selected && v.files.focused:
		return v.styles.Selected.Render(ansi.Strip(line))
	case selected:
		return v.styles.Bold.Render(ansi.Strip(line))
	}
	return line
}

// fileText returns the text of a row.
func (v *View) fileText(row fileRow, width int) string {
	if row.comment != nil {
		text := fmt.Sprintf("   ┕ %d: %s", row.comment.Place.Line, row.comment.Text)
		return v.styles.Warning.Render(ui.Fit(text, width))
	}
	f := v.content.Changes.Files()[row.file]
	mark := "  "
	if v.content.Unread {
		mark = v.styles.Success.Render("✓ ")
		if v.content.Changes.Unseen(row.file) > 0 {
			mark = v.styles.Warning.Render("○ ")
		}
	}
	stat := " " + statOf(f)
	room := max(1, width-2-gutterWidth-ansi.StringWidth(stat))
	path := ui.Pad(ui.FitLeft(format.JoinLines(f.Path()), room), room)
	return mark + v.styles.Dim.Render(gutter) + path + v.styles.Dim.Render(stat)
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
