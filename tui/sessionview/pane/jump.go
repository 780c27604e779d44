package pane

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
)

var anchorNames = map[transcript.AnchorKind]string{
	transcriptview.TurnAnchor: "turn",
	transcriptview.StepAnchor: "tool call, approval or error",
}

// jumpKeys are the kinds of items that keys jump to, before or after the selected item.
var jumpKeys = map[keymap.Action]struct {
	kind transcript.AnchorKind
	by   int
}{
	keymap.Previous:     {transcriptview.TurnAnchor, -1},
	keymap.Next:         {transcriptview.TurnAnchor, 1},
	keymap.PreviousStep: {transcriptview.StepAnchor, -1},
	keymap.NextStep:     {transcriptview.StepAnchor, 1},
}

// jump moves to a place that may not be loaded yet. Older turns are requested until it is. The next
// key press cancels the jump.
type jump struct {
	show     func() bool // shows the place and reports true, if it is loaded
	oldest   uint64      // seq of the oldest turn to request; 0: no limit
	notFound string      // status message if the place does not exist
}

// turnGone is the status message of a jump to a turn that the session no longer has.
const turnGone = "the turn is no longer there"

// start starts a jump.
func (h *history) start(j *jump) tea.Cmd {
	h.jump = nil
	if j.show() {
		return nil
	}
	if before := h.view.OlderThan(); !h.view.Loading() && (before == 0 || before <= j.oldest) {
		h.Commands.Status.Text = j.notFound
		return nil
	}
	h.jump, h.Commands.Status.Text = j, "looking further back …"
	return h.request()
}

// resume continues the jump, if there is one, after older turns arrived.
func (h *history) resume() tea.Cmd {
	if h.jump == nil {
		return nil
	}
	h.Commands.Status.Text = ""
	return h.start(h.jump)
}

// jumpTo moves to the nearest item of a kind before the selected item (by < 0) or after it. Without
// a selection it starts from the top of the screen.
func (h *history) jumpTo(kind transcript.AnchorKind, by int) tea.Cmd {
	list := h.view.List
	from, selecting := list.Selected()
	if !selecting {
		from, _ = list.TopLine()
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
			list.SetTopLine(id, 0)
		} else {
			list.SelectLine(id, 0)
			if !selecting {
				list.ClearSelection()
			}
		}
		return true
	}
	if by < 0 {
		return h.start(&jump{show: show, notFound: "there is no " + anchorNames[kind] + " before"})
	}
	if !show() {
		if kind == transcriptview.TurnAnchor {
			list.ScrollToBottom()
			return nil
		}
		h.Commands.Status.Text = "there is no " + anchorNames[kind] + " after"
	}
	return nil
}

// jumpToTurn moves to the turn that begins at seq first.
func (h *history) jumpToTurn(first uint64) tea.Cmd {
	list := h.view.List
	return h.start(&jump{oldest: first, notFound: turnGone, show: func() bool {
		id, ok := list.Find(first)
		if ok {
			list.SelectItem(id)
			list.SetTopLine(id, 0)
		}
		return ok
	}})
}
