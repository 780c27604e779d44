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

// jump moves to a place that may not be loaded yet. Older turns are requested until it is. The next
// key press cancels the jump.
type jump struct {
	show     func() bool // shows the place and reports true, if it is loaded
	oldest   uint64      // seq of the oldest turn to request; 0: no limit
	notFound string      // status message if the place does not exist
}

// jumpPageTurns is the number of turns that a jump requests at a time.
const jumpPageTurns = 100

// startJump starts a jump, or continues it after older turns arrived. j may be nil.
func (p *transcriptPane) startJump(j *jump) tea.Cmd {
	if j == nil {
		return nil
	}
	status := p.commands.Status
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

// jumpTo moves to the nearest item of a kind before the selected item (by < 0) or after it. Without
// a selection it starts from the top of the screen.
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
		p.commands.Status.Text = "there is no " + anchorNames[kind] + " after"
	}
	return nil
}
