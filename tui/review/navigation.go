package review

import (
	"slices"

	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
)

// act carries out an action that moves in the changes. It returns a status message, or "".
func (b *body) act(action keymap.Action) (message string) {
	page := max(1, b.list.Height()-1)
	switch action {
	case keymap.Up:
		b.move(-1)
	case keymap.Down:
		b.move(1)
	case keymap.PageUp:
		b.page(-page)
	case keymap.PageDown, keymap.PagerPageDown:
		b.page(page)
	case keymap.First:
		b.list.ScrollToTop()
		b.current = transcript.Point{}
	case keymap.Last:
		b.list.ScrollToBottom()
		b.current = b.list.MovePoint(transcript.Point{Item: b.list.Last(), Line: 1 << 30}, 0)
	case keymap.Previous:
		return b.jumpFile(-1)
	case keymap.Next:
		return b.jumpFile(1)
	case keymap.PreviousStep:
		return b.jumpHunk(-1)
	case keymap.NextStep:
		return b.jumpHunk(1)
	}
	return ""
}

// move moves the current line.
func (b *body) move(by int) {
	b.current = b.list.MovePoint(b.current, by)
	b.list.EnsureVisible(b.current)
}

// page scrolls by a number of rows, with the current line.
func (b *body) page(rows int) {
	b.list.Scroll(rows)
	b.move(rows)
}

// scroll scrolls by a number of rows. The current line stays on the screen.
func (b *body) scroll(rows int) {
	b.list.Scroll(rows)
	id, line := b.list.TopLine()
	top := transcript.Point{Item: id, Line: line}
	bottom := b.list.MovePoint(top, b.list.Height()-1)
	switch {
	case b.current.Before(top):
		b.current = top
	case bottom.Before(b.current):
		b.current = bottom
	}
}

// show makes a line the current one, near the top.
func (b *body) show(p transcript.Point) {
	b.current = b.list.MovePoint(p, 0)
	b.list.SetTopLine(b.current.Item, b.current.Line)
	b.list.EnsureVisible(b.current)
}

// jumpFile shows the start of another file. It returns a message if there is none.
func (b *body) jumpFile(by int) (message string) {
	file := b.currentFile() + by
	switch {
	case by > 0 && b.currentPiece() < 0:
		file = 0
	case by < 0 && b.currentPiece() >= len(b.items):
		file = len(b.content.Changes.Files()) - 1
	case by > 0 && !b.inFile():
		file = len(b.content.Changes.Files())
	case by < 0 && b.currentPiece() >= 0 && b.start(file+1).Before(b.current):
		file++ // to the start of this file first
	}
	switch {
	case file >= len(b.content.Changes.Files()):
		return "this is the last file"
	case file < 0 && b.content.Head != nil:
		b.show(transcript.Point{})
	case file < 0:
		return "this is the first file"
	default:
		b.show(b.start(file))
	}
	return ""
}

// jumpHunk shows the start of the next or the previous hunk. It returns a message if there is none.
func (b *body) jumpHunk(by int) (message string) {
	c := b.content.Changes
	for piece := b.currentPiece(); ; {
		if by > 0 || b.current.Line == 0 || piece < 0 {
			piece += by
		}
		at := b.pointAt(piece, 0)
		switch {
		case piece < 0 || piece >= c.Len():
			return map[bool]string{true: "this is the last hunk", false: "this is the first hunk"}[by > 0]
		case c.Piece(piece).StartsHunk && (by > 0 || at.Before(b.current)):
			b.show(at)
			return ""
		case by < 0 && b.current.Line > 0:
			piece--
		}
	}
}

// showUnreadPart shows the first line of a part, which may be nil, that was not on the screen.
func (b *body) showUnreadPart(p Part, id transcript.ID) bool {
	if p == nil {
		return false
	}
	line, n := p.Unread()
	if n > 0 {
		b.show(transcript.Point{Item: id, Line: line})
	}
	return n > 0
}

// showUnread shows the first line that was not on the screen. It returns false if all were.
func (b *body) showUnread() bool {
	if b.showUnreadPart(b.content.Head, 0) {
		return true
	}
	piece, line, ok := b.content.Changes.NextUnseen()
	if !ok {
		return b.showUnreadPart(b.content.Tail, b.pointAt(len(b.items), 0).Item)
	}
	rows := b.items[piece].layout(b.width())
	row := slices.IndexFunc(rows, func(r bodyRow) bool { return r.line == line })
	b.show(b.pointAt(piece, max(row, 0)))
	return true
}
