package pane

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/changes"
	"agentctl/tui/diff"
	"agentctl/tui/filechange"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/review"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// reviewView has a method named View.
type reviewView = review.View

// changesPage shows the files that the session changed. Comments on their lines become a message when
// it is closed.
type changesPage struct {
	*reviewView
	pane     *Pane
	comments review.Comments
	known    bool // it has the changes of all turns
	closed   bool
}

// Update implements [ui.Overlay].
func (p *changesPage) Update(msg tea.Msg) ui.Response {
	r := p.reviewView.Update(msg)
	p.closed = p.closed || r.Close
	if n := p.comments.Len(); r.Close && n > 0 {
		p.pane.Commands.Status.Text = format.Count(n, "comment") + " in the message box" +
			ui.Prefixed(keymap.Separator, "not sent yet")
		r.Intent = panel.Result{Leave: true, Text: p.comments.Message(p.pane.Replica.State.CWD)}
	}
	return r
}

// View implements [ui.Overlay]. It adds the changes of older turns once they are known.
func (p *changesPage) View(width, height int) ([]string, *tea.Cursor) {
	if !p.known && p.pane.View.ChangesKnown() {
		p.SetChanges(p.pane.changes())
		p.known = true
	}
	switch {
	case p.known:
		p.SetTitle("files changed in this session")
	case p.pane.View.ChangesLoading():
		p.SetTitle("files changed in this session" + keymap.Separator + "loading older turns …")
	default:
		p.SetTitle("files changed in the turns that are loaded")
	}
	return p.reviewView.View(width, height)
}

// ShowChanges opens the files that the session changed, at the file of a path, or at the list if the path
// is empty. Before the session is loaded no change is known, so none is shown.
func (p *Pane) ShowChanges(path string) panel.Result {
	if !p.Replica.CaughtUp {
		p.Commands.Status.Text = "the session is still loading"
		return panel.Result{}
	}
	page := p.newChangesPage()
	if path == "" {
		page.ShowFiles()
	} else {
		page.ShowHunk(path, 0)
	}
	return p.open(page)
}

// open opens the page and requests what it lacks.
func (p *Pane) open(page *changesPage) panel.Result {
	cmd := p.Git.Request()
	if p.Replica.Connected() {
		wanted := func() bool { return !page.closed }
		cmd = tea.Batch(cmd, changes.Load(p.Commands, p.Commands.Session, p.View, wanted))
	}
	return panel.Result{Push: page, Cmd: cmd}
}

// showChangesOf opens them at the first change of a tool call, or else of its turn.
func (p *Pane) showChangesOf(id transcript.ID) panel.Result {
	own := transcriptview.Steps(p.View.List, id, id)
	if len(own) == 0 {
		var last transcript.ID
		id, last = transcriptview.Turn(p.View.List, id)
		own = transcriptview.Steps(p.View.List, id, last)
	}
	if len(own) == 0 {
		p.Commands.Status.Text = "no files were changed in this turn"
		return panel.Result{}
	}
	f := own[0].Files[0]
	before := 0 // hunks of the file in earlier calls
	for _, step := range p.View.StepsTo(id - 1) {
		for _, earlier := range step.Files {
			if earlier.Path() == f.Path() {
				before += len(earlier.Hunks)
			}
		}
	}
	page := p.newChangesPage()
	page.ShowHunk(f.Path(), before)
	return p.open(page)
}

// changes returns the changes of all turns that are known.
func (p *Pane) changes() *filechange.Changes {
	files := filechange.Join(p.View.StepsTo(p.View.List.Last()))
	slices.SortStableFunc(files, func(a, b diff.File) int { return cmp.Compare(a.Path(), b.Path()) })
	return filechange.New(files)
}

// newChangesPage returns the page of the changed files.
func (p *Pane) newChangesPage() *changesPage {
	page := &changesPage{pane: p, known: p.View.ChangesKnown()}
	page.reviewView = review.New(p.Styles, "", review.Content{
		Changes: p.changes(), Comments: &page.comments, Directory: p.Replica.State.CWD,
		Git: p.Git.Files, OpenGit: page.openGit,
	})
	return page
}

// openGit shows the differences of a file that only git knows. The server is asked for them.
func (p *changesPage) openGit(path string) ui.Response {
	title := transcript.CleanLine(path)
	content := review.Content{Changes: filechange.New(nil), Comments: &p.comments, Directory: p.pane.Replica.State.CWD}
	page := review.New(p.pane.Styles, title, content)
	page.SetMessage("asking the server …")
	return ui.Response{Push: page, Cmd: p.pane.Git.Diff(path, func(r *protocol.DiffResult, err error) {
		if err != nil {
			page.SetMessage(remote.ErrorText(err))
			return
		}
		files, ok := diff.Parse(transcript.Reveal(r.Patch))
		if !ok {
			page.SetMessage("no difference from the last commit")
			return
		}
		if r.Cut {
			page.SetTitle(title + keymap.Separator + "its first " + format.Bytes(int64(len(r.Patch))))
		}
		page.SetMessage("")
		page.SetChanges(filechange.New(files))
	})}
}
