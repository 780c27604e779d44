package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/sessionlist"
	"agentctl/tui/ui"
)

// approvals opens the dialogs of requests.
type approvals struct {
	*requester
	list   *sessionlist.List
	walk   *walk // of which the session of a dialog may be a part
	open   OpenSessions
	canvas *ui.Canvas      // of the screen
	shown  *approvalDialog // the last one; nil: none
}

// touch records a key press, which counts for the guard of the open dialog.
func (a *approvals) touch() {
	if a.overlays.Contains(a.shown) {
		a.shown.panel.Touch()
	}
}

// show opens the approval dialog for a session.
func (a *approvals) show(s *protocol.Summary) tea.Cmd {
	if s.Status != protocol.Waiting {
		a.Status.Text = sessionName(s) + " has no request"
		return nil
	}
	dialog := &approvalDialog{
		approvals: a, session: s.Session, panel: approval.NewPanel(a.styles, sessionName(s)), asked: s.Asked, count: s.Approvals,
	}
	if a.walk.replaced {
		a.walk.replaced = false
		dialog.panel.Replace()
	}
	a.shown = dialog
	a.overlays.Push(dialog)
	return dialog.fetch()
}
