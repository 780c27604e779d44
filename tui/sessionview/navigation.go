package sessionview

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
)

var anchorNames = map[transcript.AnchorKind]string{
	transcriptview.TurnAnchor:     "turn",
	transcriptview.ToolAnchor:     "tool call",
	transcriptview.ApprovalAnchor: "approval",
	transcriptview.ErrorAnchor:    "error",
}

// jump goes to a place that may not be in memory: older turns are paged in until it is. The next key ends it.
type jump struct {
	show     func() bool // goes there, if it is in memory
	oldest   uint64      // no turn before this seq is paged in; 0: all turns may be
	notFound string      // the status message when there is no such place
}

// jumpPageTurns is how many turns a jump pages in at a time.
const jumpPageTurns = 100

// startJump begins a jump, or continues it when older turns have arrived.
func (p *transcriptPane) startJump(j *jump) tea.Cmd {
	if j == nil {
		return nil
	}
	status := p.commands.status
	if p.jump == j {
		status.Text = ""
	}
	p.jump = nil
	if j.show() {
		return nil
	}
	if before := p.view.OlderThan(); !p.view.Loading() && (before == 0 || before <= j.oldest) {
		status.Text = j.notFound
		return nil
	}
	p.jump, status.Text = j, "looking further back …"
	return p.requestOlder()
}

// jumpTo goes to the nearest item of a kind before the selected one (by < 0) or after it; without a
// selection the top of the screen counts.
func (p *transcriptPane) jumpTo(kind transcript.AnchorKind, by int) tea.Cmd {
	list := p.view.List
	from, selecting := list.Selected()
	if !selecting {
		from = list.TopItem()
		if list.Following() && by > 0 {
			from = list.Last()
		}
	}
	show := func() bool {
		id, ok := list.NextAnchor(kind, from, by)
		if !ok {
			return false
		}
		if selecting {
			list.SelectItem(id)
		}
		if kind == transcriptview.TurnAnchor {
			list.ScrollToItem(id)
		} else {
			list.SelectLine(id, 0)
			if !selecting {
				list.ClearSelection()
			}
		}
		return true
	}
	if by < 0 {
		return p.startJump(&jump{show: show, notFound: "there is no " + anchorNames[kind] + " before"})
	}
	if !show() {
		if kind == transcriptview.TurnAnchor {
			list.ScrollToBottom()
			return nil
		}
		p.commands.status.Text = "there is no " + anchorNames[kind] + " after"
	}
	return nil
}
