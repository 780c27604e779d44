package review

import (
	"fmt"

	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/format"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// body shows the changes as a list of lines, with the head before them. It records which lines were
// on the screen.
type body struct {
	styles  *ui.Styles
	content Content
	list    *transcript.List
	items   []*pieceItem     // by piece of the changes
	current transcript.Point // the line that keys act on
}

// set replaces the content. The body stays where it is, as far as that exists.
func (b *body) set(content Content) {
	b.content, b.items = content, nil
	old := b.list
	b.list = transcript.NewList(ui.CacheBytes)
	if content.Head != nil {
		b.list.Append(content.Head, false)
	}
	for i := range content.Changes.Len() {
		item := &pieceItem{styles: b.styles, changes: content.Changes, piece: i, comments: content.Comments}
		b.items = append(b.items, item)
		b.list.Append(item, false)
	}
	if content.Tail != nil {
		b.list.Append(content.Tail, false)
	}
	if old != nil {
		b.list.SetTopLine(old.TopLine())
	}
}

// width returns the width of the last drawing.
func (b *body) width() int { return b.list.Width() }

// pointAt returns a row of a piece.
func (b *body) pointAt(piece, row int) transcript.Point {
	first := transcript.ID(0)
	if b.content.Head != nil {
		first = 1
	}
	return transcript.Point{Item: first + transcript.ID(piece), Line: row}
}

// partAt returns the part at a line that is in no piece.
func (b *body) partAt(p transcript.Point) Part {
	if b.pieceOf(p) < 0 {
		return b.content.Head
	}
	return b.content.Tail
}

// pieceOf returns the piece of a line, -1 in the head, or the number of pieces in the tail.
func (b *body) pieceOf(p transcript.Point) int { return int(p.Item - b.pointAt(0, 0).Item) }

// currentPiece returns the piece of the current line; see pieceOf.
func (b *body) currentPiece() int { return b.pieceOf(b.current) }

// inFile reports whether the current line is in a file.
func (b *body) inFile() bool {
	piece := b.currentPiece()
	return piece >= 0 && piece < len(b.items)
}

// currentFile returns the index of the file of the current line.
func (b *body) currentFile() int {
	if !b.inFile() {
		return 0
	}
	return b.content.Changes.FileOf(b.currentPiece())
}

// start returns the first line of a file.
func (b *body) start(file int) transcript.Point { return b.startOf(b.content.Changes.HeaderOf(file)) }

// startOf returns the first line of a piece, after a blank line before a file.
func (b *body) startOf(piece int) transcript.Point {
	if c := b.content.Changes; piece > 0 && piece < c.Len() && c.Piece(piece).IsHeader {
		return b.pointAt(piece, 1)
	}
	return b.pointAt(piece, 0)
}

// noLine is the message of a comment on something else than a line.
const noLine = "select a line of a change to comment on it"

// place returns the line of the patch that the current line shows: the one with a comment if it
// shows two. ok is false, with the reason, if it is no line of a patch.
func (b *body) place() (place Place, reason string, ok bool) {
	comments := b.content.Comments
	if comments == nil {
		return Place{}, "these changes are not under review: comments go with a decision", false
	}
	var places []Place
	if b.inFile() {
		item := b.items[b.currentPiece()]
		if rows := item.layout(b.width()); b.current.Line < len(rows) {
			places = item.places(rows[b.current.Line].line)
		}
	}
	if len(places) == 0 {
		return Place{}, noLine, false
	}
	place = places[0]
	for _, other := range places[1:] {
		if comments.At(other) != "" && comments.At(places[0]) == "" {
			place = other
		}
	}
	return place, "", true
}

// click makes a row the current line. It reports whether it was that before.
func (b *body) click(row int) (again bool) {
	if _, ok := b.list.ItemAt(row); !ok {
		return false // below the last line
	}
	before := b.current
	b.current = b.list.PointAt(row)
	return b.current == before
}

// lines draws the window of the changes, with the current line marked.
func (b *body) lines() []string {
	b.current = b.list.MovePoint(b.current, 0)
	b.list.SetRangeHighlight(b.current, b.current, func(line string) string {
		return b.styles.Selected.Render(ui.Pad(ansi.Strip(line), b.width()))
	})
	lines := b.list.Lines()
	b.list.VisitVisible(func(id transcript.ID, from, to int) {
		at := transcript.Point{Item: id}
		if piece := b.pieceOf(at); piece >= 0 && piece < len(b.items) {
			b.items[piece].markDrawn(b.width(), from, to)
		} else {
			b.partAt(at).Shown(b.width(), from, to)
		}
	})
	return lines
}

// fileLine draws a line with the current file.
func (b *body) fileLine(width int) string {
	files := b.content.Changes.Files()
	if !b.inFile() {
		return b.styles.Bold.Render(ui.Fit(" request", width))
	}
	at := b.currentFile()
	f := files[at]
	left := fmt.Sprintf(" file %d of %d", at+1, len(files))
	right := " " + statOf(f)
	if n := b.content.Changes.Unseen(at); n > 0 && b.content.Unread {
		right += keymap.Separator + "not read"
	}
	room := max(1, width-transcript.Width(left+gutter+right))
	path := ui.FitLeft(format.JoinLines(f.Path()), room)
	return ui.Fit(left+b.styles.Dim.Render(gutter)+b.styles.Bold.Render(path)+right, width)
}

// hint returns the keys that act on the changes.
func (b *body) hint() string {
	pairs := []any{keymap.PagerPageDown, "page"}
	if b.content.hasFiles() {
		pairs = append(pairs, keymap.NextStep, "hunk", keymap.Next, "file")
		if b.content.Comments != nil {
			pairs = append(pairs, keymap.ReviewComment, "comment")
		}
		pairs = append(pairs, keymap.ListFiles, "files")
	}
	if b.content.Unread && b.content.unread() != "" {
		pairs = append(pairs, keymap.ReviewUnread, "unread")
	}
	pairs = append(pairs, keymap.ListFind, "find")
	if b.content.commented() {
		pairs = append(pairs, keymap.Remove, "remove")
	}
	if !b.content.hasFiles() {
		return b.styles.Keys.Hint(pairs...)
	}
	layout := "side by side"
	if b.styles.SideBySide(b.width()) {
		layout = "one column"
	}
	return b.styles.Keys.Hint(append(pairs, keymap.DiffLayout, layout)...)
}
