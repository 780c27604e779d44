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
	focused  bool
	selected int          // index of the row
	top      int          // index of the first visible row
	folded   map[int]bool // files whose lines are hidden
}

// fileRow is a row of the list: a file, or a comment on it.
type fileRow struct {
	file    int
	comment *Comment // nil: the file
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
func (l *fileList) selectFile(v *View, file int) {
	for i, r := range v.fileRows() {
		if r.file == file && r.comment == nil {
			l.selected = i
			return
		}
	}
}

// pressFiles handles an action on the list of files.
func (v *View) pressFiles(action keymap.Action) {
	l, rows := &v.files, v.fileRows()
	switch action {
	case keymap.Up, keymap.ReviewPreviousFile:
		l.selected--
	case keymap.Down, keymap.ReviewNextFile:
		l.selected++
	case keymap.ReviewPageUp:
		l.selected -= max(1, v.list.Height()-1)
	case keymap.ReviewPageDown:
		l.selected += max(1, v.list.Height()-1)
	case keymap.First:
		l.selected = 0
	case keymap.Last:
		l.selected = len(rows) - 1
	case keymap.Back:
		l.focused = false
	case keymap.Choose:
		v.openRow(l.selected)
		l.focused = false
	case keymap.ReviewComment, keymap.ReviewRemove:
		if l.selected < len(rows) && rows[l.selected].comment != nil {
			v.place = rows[l.selected].comment.Place
			if action == keymap.ReviewComment {
				v.startInput()
			} else {
				v.setComment("")
			}
			return
		}
		v.message = "select a comment"
	case keymap.ReviewUnread:
		v.pressBody(action)
	}
	l.selected = max(0, min(l.selected, len(v.fileRows())-1))
}

// openRow shows the file or the comment of a row.
func (v *View) openRow(at int) {
	rows := v.fileRows()
	if at >= len(rows) {
		return
	}
	if comment := rows[at].comment; comment != nil {
		first := v.content.Changes.HeaderOf(rows[at].file)
		for i := first; i < len(v.items) && v.content.Changes.FileOf(i) == rows[at].file; i++ {
			if line, ok := v.items[i].rowOf(comment.Place, v.bodyWidth()); ok {
				v.show(transcript.Point{Item: v.first() + transcript.ID(i), Line: line})
				return
			}
		}
	}
	v.show(v.start(rows[at].file))
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
	rows := v.fileRows()
	l := &v.files
	if !l.focused {
		l.selectFile(v, v.currentFile())
	}
	l.top = max(min(l.top, l.selected), l.selected-height+1, 0)
	var out []string
	for i := l.top; i < len(rows) && len(out) < height; i++ {
		line := ui.Pad(v.fileLine(rows[i], width), width)
		switch {
		case i == l.selected && l.focused:
			line = v.styles.Selected.Render(ansi.Strip(line))
		case i == l.selected:
			line = v.styles.Bold.Render(ansi.Strip(line))
		}
		out = append(out, line)
	}
	for len(out) < height {
		out = append(out, strings.Repeat(" ", max(0, width)))
	}
	return out
}

// fileLine draws a row of the list.
func (v *View) fileLine(row fileRow, width int) string {
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
