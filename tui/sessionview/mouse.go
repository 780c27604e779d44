package sessionview

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/approval"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/sessionview/queue"
	"agentctl/tui/sessionview/sidecolumn"
	"agentctl/tui/ui"
)

// inputRows is the list of the rows of the message box.
const inputRows = "input"

// point handles the mouse on a row of a part. A click moves the focus to the part and selects the row; one
// on a file of the side column opens the changed files. The wheel leaves the focus where it is.
func (v *View) point(msg ui.RowMsg) tea.Cmd {
	list, beside := strings.CutPrefix(msg.List, sidecolumn.Rows)
	if beside && msg.Wheel != 0 {
		v.panels.side.Scroll(msg.Wheel)
		return nil
	}
	click := func(part focus) {
		if msg.Wheel == 0 && v.focus != part {
			v.setFocus(part)
		}
	}
	switch list {
	case approval.Rows, approval.PageRows:
		v.panels.decision.Touch()
		click(onApproval) // confirms nothing if it gives the focus
		return v.applyApprovalResult(v.panels.decision.Point(msg))
	case queue.Rows:
		click(onQueue)
		v.panels.queue.Select(msg.Target(v.panels.queue.Selected()))
	case panel.PlanRows:
		click(onPlan)
		v.panels.plan.Point(msg)
	case "files":
		return v.applyResult(v.transcript.ShowChanges(v.panels.side.File(msg.Row)))
	case inputRows:
		click(onComposer)
	}
	return nil
}
