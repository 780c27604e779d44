package review

import (
	"agentctl/internal/format"
	"agentctl/tui/transcript"
)

// toggleFold hides the lines of the current file below its heading, or shows them again. In the
// list that is the selected file.
func (v *View) toggleFold() {
	if row, ok := v.files.Selected(); ok && v.files.focused {
		v.openRow(row)
	}
	if v.currentPiece() < 0 || len(v.items) == 0 {
		v.message = "select a file"
		return
	}
	file := v.currentFile()
	v.setFolded(file, !v.files.folded[file])
	v.show(v.start(file))
}

// setFolded hides or shows the lines of a file. Hidden lines do not count as read.
func (v *View) setFolded(file int, folded bool) {
	if v.files.folded[file] == folded || file < 0 || file >= len(v.content.Changes.Files()) {
		return
	}
	if v.files.folded == nil {
		v.files.folded = map[int]bool{}
	}
	v.files.folded[file] = folded
	header := v.content.Changes.HeaderOf(file)
	v.items[header].hidden = 0
	for i := header; i < len(v.items) && v.content.Changes.FileOf(i) == file; i++ {
		if i > header {
			v.items[header].hidden += v.content.Changes.Piece(i).Len()
		}
		v.list.SetCollapsed(v.first()+transcript.ID(i), folded)
	}
}

// unfold shows the lines of the file of a line below a heading.
func (v *View) unfold(p transcript.Point) {
	piece := int(p.Item - v.first())
	if piece >= 0 && piece < len(v.items) && !v.content.Changes.Piece(piece).IsHeader() {
		v.setFolded(v.content.Changes.FileOf(piece), false)
	}
}

// folded returns what a piece shows of a folded file: its heading and the number of lines.
func (p *pieceItem) folded(body []string, width int) []string {
	if !p.changes.Piece(p.piece).IsHeader() {
		return nil
	}
	note := &transcript.StyledText{}
	note.Append("  … "+format.Count(p.hidden, "line"), transcript.Faint)
	return append(body, note.Lines(max(1, width))[0])
}
