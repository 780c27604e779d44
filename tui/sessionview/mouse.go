package sessionview

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/ui"
)

// clickable are the actions of the hints on the last line that a click carries out.
var clickable = []keymap.Action{
	keymap.Interrupt, keymap.NextPending, keymap.ShowSessions, keymap.Help, keymap.Reconnect,
}

// rowRange is a range of rows of the screen.
type rowRange struct{ from, to int }

func (r rowRange) contains(y int) bool { return y >= r.from && y < r.to }

// clickRows are the rows of the parts that a click focuses.
type clickRows struct{ side, queue, approval, composer rowRange }

// click handles a click. It moves the focus, selects a queued message or a row of a request, or
// expands an item of the transcript. A click on the selected row of a request confirms it.
func (v *View) click(msg tea.MouseClickMsg) tea.Cmd {
	rows := v.panels.rows
	switch {
	case msg.Button != tea.MouseLeft:
	case msg.Y == v.canvas.Height-1:
		line := v.lastLine(v.canvas.Width)
		if a := ui.HintAt(v.Styles.Keys, line, msg.X, clickable...); a != "" {
			return v.runAction(panel.RunIntent{Action: a})
		}
	case v.panels.side.Contains(msg.X, v.canvas.Width) && rows.side.contains(msg.Y):
		return v.clickSide(msg.Y)
	case rows.approval.contains(msg.Y):
		v.panels.decision.Touch()
		if v.focus != onApproval {
			v.setFocus(onApproval) // the click that gives it the focus confirms nothing
		}
		line := msg.Y - rows.approval.from
		return v.applyApprovalResult(v.panels.decision.Click(line, msg.X))
	case rows.queue.contains(msg.Y):
		v.setFocus(onQueue)
		v.panels.queue.Click(msg.Y - rows.queue.from)
	case rows.composer.contains(msg.Y):
		v.setFocus(onComposer)
	default:
		return v.transcript.Click(msg.Y)
	}
	return nil
}

// clickSide handles a click on a line of the side column. A click on a task or a queued message
// moves the focus to it, a click on a file opens the changed files.
func (v *View) clickSide(row int) tea.Cmd {
	switch section, at := v.panels.side.Click(row); section {
	case "plan":
		v.setFocus(onPlan)
		v.panels.plan.Select(at)
	case "queue":
		if at < v.panels.queue.Len() {
			v.setFocus(onQueue)
			v.panels.queue.Select(at)
		}
	case "files":
		return v.applyResult(v.transcript.ShowChanges(v.panels.side.File(at)))
	}
	return nil
}
