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
		return b.jump(-1, "file")
	case keymap.Next:
		return b.jump(1, "file")
	case keymap.PreviousStep:
		return b.jump(-1, "hunk")
	case keymap.NextStep:
		return b.jump(1, "hunk")
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

// jump shows the next (1) or the previous (-1) start of a "file" or a "hunk". It returns a message if there is
// none. The head is before the first file.
func (b *body) jump(by int, what string) (message string) {
	c := b.content.Changes
	for piece := b.currentPiece(); ; piece += by {
		at := b.startOf(piece)
		switch {
		case by > 0 && piece >= c.Len():
			return "this is the last " + what
		case by < 0 && piece < 0 && what == "file" && b.content.Head != nil:
			b.show(transcript.Point{})
			return ""
		case by < 0 && piece < 0:
			return "this is the first " + what
		case piece < 0 || piece >= c.Len():
		case c.Piece(piece).IsHeader != (what == "file") || c.Piece(piece).StartsHunk != (what == "hunk"):
		case by > 0 && b.current.Before(at), by < 0 && at.Before(b.current):
			b.show(at)
			return ""
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
