package sessionview

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/approval"
)

// applyApprovalResult carries out a result of the approval panel.
func (v *View) applyApprovalResult(r approval.Result) tea.Cmd {
	v.leaveFocus(r.Leave)
	if r.Focus {
		v.setFocus(onApproval)
	}
	if r.Status != "" {
		v.status.Text = r.Status
	}
	if r.Push != nil {
		v.overlays.Push(r.Push)
	}
	switch {
	case r.Decide != nil:
		return v.panels.decision.Send(*r.Decide)
	case r.Edit != nil:
		return v.editText(r.Edit.Extension, r.Edit.Text, r.Edit.Done)
	}
	return nil
}
