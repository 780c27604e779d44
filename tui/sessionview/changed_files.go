package sessionview

import (
	"agentctl/tui/filechange"
	"agentctl/tui/review"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

const noChangedFiles = "no files were changed"

// showChangedFiles opens the review of the files that the loaded turns changed.
func (v *View) showChangedFiles() {
	title := "files changed in this session"
	if v.transcript.view.HasOlder() {
		title = "files changed in the turns that are loaded"
	}
	list := v.transcript.view.List
	if o := v.transcript.reviewFiles(title, list.First(), list.Last()); o != nil {
		v.overlays.Push(o)
		return
	}
	v.status.Text = noChangedFiles
}

// changesOf returns the review of the files that a tool call changed, or else its turn. It returns
// nil if there are none.
func (p *transcriptPane) changesOf(id transcript.ID) ui.Overlay {
	if o := p.reviewFiles("files changed by this call", id, id); o != nil {
		return o
	}
	first, last := p.view.Turn(id)
	return p.reviewFiles("files changed in this turn", first, last)
}

// reviewFiles returns the review of the files that a range of items changed, or nil.
func (p *transcriptPane) reviewFiles(title string, first, last transcript.ID) ui.Overlay {
	var steps []filechange.Step
	for id := first; id <= last; id++ {
		if step, ok := transcriptview.ChangedFiles(p.styles, p.view.List.Item(id)); ok {
			steps = append(steps, step)
		}
	}
	if len(steps) == 0 {
		return nil
	}
	return review.New(p.styles, title, review.Content{Changes: filechange.New(filechange.Join(steps))})
}
