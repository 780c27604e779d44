package review

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/filechange"
	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// View is an overlay that shows changes of files. The current line is the one that keys act on.
type View struct {
	styles  *ui.Styles
	content Content
	title   string
	list    *transcript.List
	items   []*pieceItem
	current transcript.Point
	files   fileList
	width   int // of the last drawing

	input   *ui.TextInput // of the comment on place, or nil
	place   Place
	message string // of the last key, until the next one
	search  search
}

// Content is the content of a view.
type Content struct {
	Changes  *filechange.Changes
	Head     Head      // shown before the changes; may be nil
	Comments *Comments // nil: no line can be commented
	Unread   bool      // show which files were not read
}

// Head is what a view shows before the changes.
type Head interface {
	transcript.Item
	// Shown is called with the range of the lines that are drawn.
	Shown(width, from, to int)
}

// New returns a view at the start of its content.
func New(s *ui.Styles, title string, content Content) *View {
	v := &View{styles: s, title: title}
	v.files = newFileList(v)
	v.SetContent(content)
	v.list.ScrollToTop()
	return v
}

// SetContent replaces the content. The view stays where it is, as far as that exists.
func (v *View) SetContent(content Content) {
	v.content, v.items, v.files.folded = content, nil, nil
	old := v.list
	v.list = transcript.NewList(ui.CacheBytes)
	if content.Head != nil {
		v.list.Append(content.Head, false)
	}
	for i := range content.Changes.Len() {
		item := &pieceItem{styles: v.styles, changes: content.Changes, piece: i, comments: content.Comments}
		v.items = append(v.items, item)
		v.list.Append(item, false)
	}
	if old != nil {
		v.list.SetTopLine(old.TopLine())
	}
	if v.search.query != nil {
		v.findMatches()
		if v.search.at = min(v.search.at, len(v.search.matches)-1); v.search.at < 0 {
			v.endSearch()
		}
	}
}

// first returns the item of the first piece.
func (v *View) first() transcript.ID {
	if v.content.Head != nil {
		return 1
	}
	return 0
}

// Scope returns the scope of reviews.
func (v *View) Scope() keymap.Scope { return keymap.Review }

// FullScreen returns true.
func (v *View) FullScreen() bool { return true }

// Typing reports whether a comment or the text of a search is being written.
func (v *View) Typing() bool { return v.input != nil || v.search.input != nil }

// SetMessage shows a message until the next key.
func (v *View) SetMessage(text string) { v.message = text }

// Redraw lays the content out again, after a change of the head, the comments or the styles.
func (v *View) Redraw() { v.list.Restyle() }

// Update scrolls, moves the current line and edits comments.
func (v *View) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		v.message = ""
		if v.input != nil {
			return v.pressInput(msg)
		}
		if v.search.input != nil {
			return v.pressSearchInput(msg)
		}
		return v.press(msg.String())
	case tea.PasteMsg:
		if v.input != nil {
			v.input.Paste(msg.Content)
		}
		if v.search.input != nil {
			v.search.input.Paste(msg.Content)
		}
	case tea.MouseClickMsg:
		v.click(msg)
	case tea.MouseWheelMsg:
		if v.files.focused {
			return v.files.Update(msg)
		}
		v.scroll(ui.WheelRows(msg))
	case ui.RestyleMsg:
		v.Redraw()
	}
	return ui.Response{}
}

// Handles reports whether a key does something in the view. The keys of the matches do so while
// there is a search.
func (v *View) Handles(key string) bool {
	action := v.styles.Keys.InList(keymap.Review, key)
	if v.search.query == nil && (action == keymap.ReviewNextMatch || action == keymap.ReviewPreviousMatch) {
		return v.files.focused
	}
	return v.input != nil || v.files.focused || action != "" && action != keymap.Choose
}

// press handles a key outside of the input.
func (v *View) press(key string) ui.Response {
	action := v.styles.Keys.InList(keymap.Review, key)
	switch action {
	case keymap.ReviewClose:
		return ui.Response{Close: true}
	case keymap.ReviewFiles:
		v.files.focused = !v.files.focused
		v.files.selectFile(v.currentFile())
		return ui.Response{}
	case keymap.ReviewLayout:
		v.styles.ToggleDiffLayout()
		v.Redraw()
		return ui.Response{}
	case keymap.ReviewCopy:
		return v.copyComments()
	case keymap.ReviewFind:
		v.beginSearch()
		return ui.Response{}
	case keymap.ReviewFold:
		v.toggleFold()
		return ui.Response{}
	}
	if v.search.query != nil {
		switch action {
		case keymap.ReviewNextMatch:
			v.nextMatch(1)
			return ui.Response{}
		case keymap.ReviewPreviousMatch:
			v.nextMatch(-1)
			return ui.Response{}
		case keymap.Back:
			v.endSearch()
			return ui.Response{}
		}
	}
	if v.files.focused {
		v.pressFiles(action)
		return ui.Response{}
	}
	if action == keymap.Back {
		return ui.Response{Close: true}
	}
	v.pressBody(action)
	return ui.Response{}
}

// pressBody handles an action on the changes.
func (v *View) pressBody(action keymap.Action) {
	page := max(1, v.list.Height()-1)
	switch action {
	case keymap.Up:
		v.move(-1)
	case keymap.Down:
		v.move(1)
	case keymap.ReviewPageUp:
		v.page(-page)
	case keymap.ReviewPageDown:
		v.page(page)
	case keymap.First:
		v.list.ScrollToTop()
		v.current = transcript.Point{}
	case keymap.Last:
		v.list.ScrollToBottom()
		v.current = v.list.MovePoint(transcript.Point{Item: v.list.Last(), Line: 1 << 30}, 0)
	case keymap.ReviewPreviousFile:
		v.jumpFile(-1)
	case keymap.ReviewNextFile:
		v.jumpFile(1)
	case keymap.ReviewPreviousHunk:
		v.jumpHunk(-1)
	case keymap.ReviewNextHunk:
		v.jumpHunk(1)
	case keymap.ReviewUnread:
		if !v.ShowUnread() {
			v.message = "all lines were on the screen"
		}
	case keymap.ReviewComment:
		v.editComment()
	case keymap.ReviewRemove:
		v.removeComment()
	}
}

// move moves the current line.
func (v *View) move(by int) {
	v.current = v.list.MovePoint(v.current, by)
	v.list.EnsureVisible(v.current)
}

// page scrolls by a number of rows, with the current line.
func (v *View) page(rows int) {
	v.list.Scroll(rows)
	v.move(rows)
}

// scroll scrolls by a number of rows. The current line stays on the screen.
func (v *View) scroll(rows int) {
	v.list.Scroll(rows)
	id, line := v.list.TopLine()
	top := transcript.Point{Item: id, Line: line}
	bottom := v.list.MovePoint(top, v.list.Height()-1)
	switch {
	case v.current.Before(top):
		v.current = top
	case bottom.Before(v.current):
		v.current = bottom
	}
}

// show makes a line the current one, near the top of the body.
func (v *View) show(p transcript.Point) {
	v.unfold(p)
	v.current = v.list.MovePoint(p, 0)
	v.list.SetTopLine(v.current.Item, v.current.Line)
	v.list.EnsureVisible(v.current)
}

// currentPiece returns the piece of the current line, or -1 in the head.
func (v *View) currentPiece() int { return int(v.current.Item - v.first()) }

// currentFile returns the index of the file of the current line.
func (v *View) currentFile() int {
	piece := v.currentPiece()
	if piece < 0 || piece >= len(v.items) {
		return 0
	}
	return v.content.Changes.FileOf(piece)
}

// start returns the first line of a file.
func (v *View) start(file int) transcript.Point {
	piece := v.content.Changes.HeaderOf(file)
	return transcript.Point{Item: v.first() + transcript.ID(piece), Line: min(piece, 1)} // after a blank line
}

// jumpFile shows the start of another file.
func (v *View) jumpFile(by int) {
	c := v.content.Changes
	file := v.currentFile() + by
	switch {
	case by > 0 && v.currentPiece() < 0:
		file = 0
	case by < 0 && v.currentPiece() >= 0 && v.start(file+1).Before(v.current):
		file++ // to the start of this file first
	}
	switch {
	case file >= len(c.Files()):
		v.message = "this is the last file"
	case file < 0 && v.content.Head != nil:
		v.show(transcript.Point{})
	case file < 0:
		v.message = "this is the first file"
	default:
		v.show(v.start(file))
	}
}

// jumpHunk shows the start of the next or the previous hunk.
func (v *View) jumpHunk(by int) {
	c := v.content.Changes
	for piece := v.currentPiece(); ; {
		if by > 0 || v.current.Line == 0 || piece < 0 {
			piece += by
		}
		at := transcript.Point{Item: v.first() + transcript.ID(piece)}
		switch {
		case piece < 0 || piece >= c.Len():
			v.message = map[bool]string{true: "this is the last hunk", false: "this is the first hunk"}[by > 0]
			return
		case c.Piece(piece).StartsHunk() && (by > 0 || at.Before(v.current)):
			v.show(at)
			return
		case by < 0 && v.current.Line > 0:
			piece--
		}
	}
}

// ShowUnread shows the first line that was not on the screen. It returns false if all were.
func (v *View) ShowUnread() bool {
	c := v.content.Changes
	piece, line, ok := c.NextUnseen()
	if !ok {
		return false
	}
	v.files.focused = false
	row := 0
	for i, r := range v.items[piece].layout(v.bodyWidth()) {
		if r.line == line {
			row = i
			break
		}
	}
	v.show(transcript.Point{Item: v.first() + transcript.ID(piece), Line: row})
	return true
}

// Top shows the start of the content.
func (v *View) Top() { v.pressBody(keymap.First) }
