package pane

import (
	"agentctl/tui/filechange"
	"agentctl/tui/review"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// ShowChanges opens the review of the files that the loaded turns changed.
func (p *Pane) ShowChanges() panel.Result {
	title := "files changed in this session"
	if p.View.HasOlder() {
		title = "files changed in the turns that are loaded"
	}
	return p.pushReview(p.reviewFiles(title, p.View.List.First(), p.View.List.Last()))
}

// showChangesOf opens the review of the files that a tool call changed, or else its turn.
func (p *Pane) showChangesOf(id transcript.ID) panel.Result {
	o := p.reviewFiles("files changed by this call", id, id)
	if o == nil {
		first, last := p.View.Turn(id)
		o = p.reviewFiles("files changed in this turn", first, last)
	}
	return p.pushReview(o)
}

// pushReview opens a review. nil: no files were changed.
func (p *Pane) pushReview(o ui.Overlay) panel.Result {
	if o == nil {
		p.Commands.Status.Text = "no files were changed"
	}
	return panel.Result{Push: o}
}

// reviewFiles returns the review of the files that a range of items changed, or nil.
func (p *Pane) reviewFiles(title string, first, last transcript.ID) ui.Overlay {
	var steps []filechange.Step
	for id := first; id <= last; id++ {
		if step, ok := transcriptview.ChangedFiles(p.Styles, p.View.List.Item(id)); ok {
			steps = append(steps, step)
		}
	}
	if len(steps) == 0 {
		return nil
	}
	return review.New(p.Styles, title, review.Content{Changes: filechange.New(filechange.Join(steps))})
}
