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

	// left holds the dialogs, by session, that the user left without a decision, though they have a
	// text. The next dialog of the same request continues them.
	left map[string]*approvalDialog
}

// touch records a key press, which counts for the guard of the open dialog.
func (a *approvals) touch() {
	if a.overlays.Contains(a.shown) {
		a.shown.panel.Touch()
	}
}

// keepLeft keeps a dialog that the user leaves if something was written in it.
func (a *approvals) keepLeft(dialog *approvalDialog) {
	if dialog.panel.Written() {
		a.left[dialog.session] = dialog
	}
}

// update keeps the text of a dialog that was left if its request is no longer pending.
func (a *approvals) update(s *protocol.Summary) {
	if dialog := a.left[s.Session]; dialog != nil && dialog.decided(s) {
		delete(a.left, s.Session)
		dialog.close()
	}
}

// show opens the approval dialog for a session: the one that was left, or a new one.
func (a *approvals) show(s *protocol.Summary) tea.Cmd {
	if s.Status != protocol.Waiting {
		a.Status.Text = sessionName(s) + " has no request"
		return nil
	}
	a.update(s)
	dialog := a.left[s.Session]
	delete(a.left, s.Session)
	if dialog == nil {
		dialog = &approvalDialog{approvals: a, session: s.Session, panel: approval.NewPanel(a.styles, sessionName(s))}
	} else {
		dialog.gone, dialog.message = false, ""
		dialog.panel.Reopen()
	}
	dialog.asked, dialog.count = s.Asked, s.Approvals
	if a.walk.replaced {
		a.walk.replaced = false
		dialog.panel.Replace()
	}
	a.shown = dialog
	a.overlays.Push(dialog)
	return dialog.fetch()
}
