package review

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/diff"
	"agentctl/tui/filechange"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// View is an overlay that shows changes of files. It gives each message to the part that has the
// keys, and carries out what the part returns.
type View struct {
	styles  *ui.Styles
	content Content
	title   string
	body    body
	files   *fileList
	comment commentField
	search  ui.Search
	message string // of the last key, until the next one
	split   bool   // the last drawing had the files beside the changes
}

// New returns a view at the start of its content.
func New(s *ui.Styles, title string, content Content) *View {
	v := &View{
		styles: s, title: title, body: body{styles: s}, files: newFileList(s),
		comment: commentField{styles: s},
	}
	v.search = ui.NewSearch(s, nil)
	v.SetContent(content)
	v.body.list.ScrollToTop()
	return v
}

// SetContent replaces the content. The view stays where it is, as far as that exists.
func (v *View) SetContent(content Content) {
	v.content, v.files.content, v.comment.comments = content, content, content.Comments
	v.body.set(content)
	v.search.SetList(v.body.list)
}

// SetTitle replaces the title.
func (v *View) SetTitle(title string) { v.title = title }

// SetChanges replaces the changes by more of them. The current line stays on its hunk, counted from the
// end of its file, and the selection on its file.
func (v *View) SetChanges(c *filechange.Changes) {
	content, line := v.content, v.body.current.Line
	old, path, selected, fromEnd := content.Changes, "", "", 0
	if v.body.inFile() {
		file := v.body.currentFile()
		path, fromEnd = old.Files()[file].Path(), old.End(file)-v.body.currentPiece()
	}
	if row, ok := v.files.Selected(); ok && row.isFile() {
		selected = old.Files()[row.File].Path()
	}
	content.Changes = c
	v.SetContent(content)
	for file, f := range c.Files() {
		if piece := c.End(file) - fromEnd; f.Path() == path && piece >= c.HeaderOf(file) {
			v.body.show(v.body.pointAt(piece, line))
		}
		if f.Path() == selected {
			v.files.selectFile(file)
		}
	}
}

// Scope returns the scope of reviews.
func (v *View) Scope() keymap.Scope { return keymap.Review }

// FullScreen returns true.
func (v *View) FullScreen() bool { return true }

// Typing reports whether a comment or the text of a search is being written.
func (v *View) Typing() bool { return v.comment.active() || v.search.Typing() }

// Commenting reports whether a comment is being written.
func (v *View) Commenting() bool { return v.comment.active() }

// SaveComment saves the comment that is being written, if any.
func (v *View) SaveComment() {
	if v.comment.save() {
		v.body.list.Restyle()
	}
}

// SetMessage shows a message until the next key.
func (v *View) SetMessage(text string) { v.message = text }

// ShowUnread shows the first line that was not on the screen, or the start if all were.
func (v *View) ShowUnread() {
	v.files.focused = false
	if !v.body.showUnread() {
		v.body.act(keymap.First)
	}
}

// ShowFiles gives the keys to the list of files.
func (v *View) ShowFiles() { v.files.focused = true }

// ShowHunk shows the hunk with an index in the file of a path, or the start of the file.
func (v *View) ShowHunk(path string, hunk int) {
	c := v.content.Changes
	file := slices.IndexFunc(c.Files(), func(f *diff.File) bool { return f.Path() == path })
	if file < 0 {
		return
	}
	v.files.focused = false
	v.body.show(v.body.start(file))
	for piece := c.HeaderOf(file); piece < c.Len() && c.FileOf(piece) == file; piece++ {
		if !c.Piece(piece).StartsHunk {
			continue
		}
		if hunk == 0 {
			v.body.show(v.body.pointAt(piece, 0))
			return
		}
		hunk--
	}
}

// Update scrolls, moves the current line and edits comments.
func (v *View) Update(msg tea.Msg) ui.Response {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		v.message = ""
		if v.Typing() {
			return v.pressField(msg)
		}
		return v.press(v.styles.Keys.InList(keymap.Review, msg.String()))
	case tea.PasteMsg:
		if v.comment.active() {
			v.comment.input.Paste(msg.Content)
		}
		v.search.Paste(msg.Content)
	case tea.MouseClickMsg:
		v.click(msg)
	case ui.RowMsg:
		return v.point(msg)
	case tea.MouseWheelMsg:
		v.body.scroll(ui.WheelRows(msg))
	case ui.RestyleMsg:
		v.body.list.Restyle()
	}
	return ui.Response{}
}

// Handles reports whether a key does something in the view.
func (v *View) Handles(key string) bool {
	if v.comment.active() || v.files.focused {
		return true
	}
	switch v.styles.Keys.InList(keymap.Review, key) {
	case "", keymap.Choose, keymap.Complete, keymap.Copy, keymap.Edit, keymap.Open:
		return false
	}
	return true
}

// pressField handles a key while a comment or the text of a search is written.
func (v *View) pressField(msg tea.KeyPressMsg) ui.Response {
	if v.comment.active() {
		r, saved := v.comment.press(msg)
		if saved {
			v.body.list.Restyle()
		}
		return r
	}
	r, entered := v.search.Press(msg)
	if entered && !v.find(0) {
		v.search.End()
	}
	return r
}

// find shows the next (1) or previous (-1) match, or the first one from the current line on (0).
func (v *View) find(by int) (found bool) {
	at, message, found := v.search.Find(v.body.current, by)
	v.message = message
	if found {
		v.files.focused = false
		v.body.show(at)
	}
	return found
}

// press handles an action outside of the text fields.
func (v *View) press(action keymap.Action) ui.Response {
	switch action {
	case keymap.ViewWhole:
		return ui.Response{Close: true}
	case keymap.ListHelp:
		return ui.Response{Push: ui.NewHelp(v.styles, keymap.Review)}
	case keymap.ListFiles:
		if !v.content.hasFiles() && v.content.Git == nil {
			v.message = "there is no change of a file"
			return ui.Response{}
		}
		v.files.focused = !v.files.focused
		v.files.selectFile(v.body.currentFile())
		return ui.Response{}
	case keymap.DiffLayout:
		v.styles.ToggleDiffLayout()
		v.body.list.Restyle()
		return ui.Response{}
	case keymap.ListFind:
		v.search.Open()
		return ui.Response{}
	}
	switch {
	case v.search.Active() && v.pressSearch(action):
	case v.files.focused:
		return v.pressFiles(action)
	case action == keymap.Back:
		return ui.Response{Close: true}
	default:
		v.pressBody(action)
	}
	return ui.Response{}
}

// pressSearch handles an action of the search. It returns false for any other action.
func (v *View) pressSearch(action keymap.Action) bool {
	switch action {
	case keymap.NextMatch:
		v.find(1)
	case keymap.PreviousMatch:
		v.find(-1)
	case keymap.Back:
		v.search.End()
	default:
		return false
	}
	return true
}

// pressFiles handles an action on the list of files.
func (v *View) pressFiles(action keymap.Action) (r ui.Response) {
	row, ok := v.files.Selected()
	switch action {
	case keymap.Back:
		v.files.focused = false
	case keymap.Choose:
		v.files.focused = ok && row.git != nil
		if ok {
			return v.open(row)
		}
	case keymap.ReviewComment, keymap.Remove:
		v.message = noLine
	case keymap.ReviewUnread:
		v.pressBody(action)
	default:
		v.files.act(action)
	}
	return r
}

// pressBody handles an action on the changes.
func (v *View) pressBody(action keymap.Action) {
	switch action {
	case keymap.ReviewUnread:
		if !v.body.showUnread() {
			v.message = "all lines were on the screen"
			return
		}
		v.files.focused = false
	case keymap.ReviewComment, keymap.Remove:
		place, reason, ok := v.body.place()
		if v.message = reason; ok {
			v.pressComment(action, place)
		}
	default:
		v.message = v.body.act(action)
	}
}

// pressComment edits or removes the comment on a line.
func (v *View) pressComment(action keymap.Action, place Place) {
	switch {
	case action == keymap.ReviewComment:
		v.comment.open(place)
	case v.content.Comments.At(place) == "":
		v.message = "this line has no comment"
	default:
		v.content.Comments.Set(place, "")
		v.body.list.Restyle()
	}
}

// open shows the file of a row of the list.
func (v *View) open(row fileRow) ui.Response {
	if row.git != nil {
		return v.content.OpenGit(row.git.Path)
	}
	v.body.show(v.body.start(row.File))
	return ui.Response{}
}

// click handles a click on the changes: it makes a line the current one. A click on the current line
// starts a comment.
func (v *View) click(msg tea.MouseClickMsg) {
	row := msg.Y - v.content.headRows()
	inFiles := v.split && msg.X < filesWidth
	if msg.Button != tea.MouseLeft || v.Typing() || inFiles || row < 0 || row >= v.body.list.Height() {
		return
	}
	v.message, v.files.focused = "", false
	if v.body.click(row) && v.content.Comments != nil {
		v.pressBody(keymap.ReviewComment)
	}
}

// point handles the mouse on a row of the list: a click shows its file.
func (v *View) point(msg ui.RowMsg) ui.Response {
	rows := v.files.rows()
	switch {
	case v.Typing() || msg.Row >= len(rows):
		return ui.Response{}
	case msg.Wheel != 0:
		return v.files.Update(msg)
	}
	v.files.SelectAt(msg.Row)
	v.message, v.files.focused = "", rows[msg.Row].git != nil
	return v.open(rows[msg.Row])
}
