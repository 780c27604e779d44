package pane

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/tui/diff"
	"agentctl/tui/filechange"
	"agentctl/tui/keymap"
	"agentctl/tui/review"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcript"
	"agentctl/tui/ui"
)

// reviewView has a method named View.
type reviewView = review.View

// changesPage shows the files that the session changed. Comments on their lines become a message when
// it is closed.
type changesPage struct {
	*reviewView
	status    *ui.Status
	comments  *review.Comments
	directory string // of the session
}

// Update implements [ui.Overlay].
func (p *changesPage) Update(msg tea.Msg) ui.Response {
	r := p.reviewView.Update(msg)
	if n := p.comments.Len(); r.Close && n > 0 {
		p.status.Text = format.Count(n, "comment") + " in the message box" +
			ui.Prefixed(keymap.Separator, "not sent yet")
		r.Intent = panel.Result{Leave: true, Text: p.comments.Message(p.directory)}
	}
	return r
}

// ShowChanges opens the files that the loaded turns changed, at the file of a path, or at the list if
// the path is empty.
func (p *Pane) ShowChanges(path string) panel.Result {
	page := p.changes()
	switch {
	case page == nil:
		p.Commands.Status.Text = "no files were changed"
		return panel.Result{}
	case path != "":
		page.ShowHunk(path, 0)
	default:
		page.ShowFiles()
	}
	return panel.Result{Push: page, Cmd: p.Git.Request()}
}

// showChangesOf opens them at the first change of a tool call, or else of its turn.
func (p *Pane) showChangesOf(id transcript.ID) panel.Result {
	own := p.View.Steps(id, id)
	if len(own) == 0 {
		var last transcript.ID
		id, last = p.View.Turn(id)
		own = p.View.Steps(id, last)
	}
	page := p.changes()
	if len(own) == 0 || page == nil {
		p.Commands.Status.Text = "no files were changed in this turn"
		return panel.Result{}
	}
	f := own[0].Files[0]
	before := 0 // hunks of the file in earlier calls
	for _, step := range p.View.Steps(p.View.List.First(), id-1) {
		for _, earlier := range step.Files {
			if earlier.Path() == f.Path() {
				before += len(earlier.Hunks)
			}
		}
	}
	page.ShowHunk(f.Path(), before)
	return panel.Result{Push: page, Cmd: p.Git.Request()}
}

// changes returns the page of the changed files, or nil.
func (p *Pane) changes() *changesPage {
	steps := p.View.Steps(p.View.List.First(), p.View.List.Last())
	if len(steps) == 0 {
		return nil
	}
	title := "files changed in this session"
	if p.View.HasOlder() {
		title = "files changed in the turns that are loaded"
	}
	files := filechange.Join(steps)
	slices.SortStableFunc(files, func(a, b diff.File) int { return cmp.Compare(a.Path(), b.Path()) })
	comments := new(review.Comments)
	return &changesPage{
		reviewView: review.New(p.Styles, title, review.Content{
			Changes: filechange.New(files), Comments: comments, Directory: p.Replica.State.CWD, Git: p.Git.Files,
		}),
		status: p.Commands.Status, comments: comments, directory: p.Replica.State.CWD,
	}
}
