package review

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
)

// headRows is the number of rows above the changes.
const headRows = 2

// click handles a click on a cell of the last drawing. In the list it shows a file or a comment. In
// the changes it hides or shows the lines below a heading, or makes a line the current one. A click
// on the current line starts a comment.
func (v *View) click(msg tea.MouseClickMsg) {
	row := msg.Y - headRows
	if msg.Button != tea.MouseLeft || v.Typing() || row < 0 || row >= v.list.Height() {
		return
	}
	v.message = ""
	inFiles := v.files.focused
	if v.width >= minSplitWidth {
		inFiles = msg.X < filesWidth
	}
	if inFiles {
		v.clickFile(row)
		return
	}
	v.clickLine(row)
}

// clickFile opens the row at a line of the list of files.
func (v *View) clickFile(line int) {
	if at, ok := v.files.RowAt(line); ok {
		v.files.SelectAt(at)
		v.files.focused = false
		v.openRow(v.fileRows()[at])
	}
}

// clickLine handles a click on a row of the changes.
func (v *View) clickLine(row int) {
	v.files.focused = false
	if _, ok := v.list.ItemAt(row); !ok {
		return // below the last line
	}
	before := v.current
	v.current = v.list.PointAt(row)
	switch file := v.currentFile(); {
	case v.currentPiece() >= 0 && v.current == v.start(file):
		v.setFolded(file, !v.files.folded[file])
	case v.current == before && v.content.Comments != nil:
		v.pressBody(keymap.ReviewComment)
	}
}
