package sessionview

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/remote"
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
		return v.sendDecision(*r.Decide)
	case r.Edit != nil:
		return v.editText(r.Edit.Extension, r.Edit.Text, r.Edit.Done)
	}
	return nil
}

// sendDecision sends a decision. A failure, such as a request decided by another client, is shown
// as the status message.
func (v *View) sendDecision(data protocol.ApproveData) tea.Cmd {
	return v.commands.Send(protocol.DoApprove, data, nil, func(err error) tea.Cmd {
		message := ""
		if err != nil {
			message = remote.ErrorText(err)
			v.status.Text = message
		}
		v.panels.approvals.Decided(data.Request, message)
		return nil
	})
}
