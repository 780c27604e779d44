package dashboard

import (
	"agentctl/protocol"
	"agentctl/tui/approval"
)

// leftRequests holds the dialogs, by session, that the user left without a decision, though they
// have a text. The next dialog of the same request continues them.
type leftRequests map[string]*approvalDialog

// put keeps a dialog if something was written in it.
func (l leftRequests) put(a *approvalDialog) {
	if a.panel.Written() {
		l[a.session] = a
	}
}

// take returns the dialog that was left for the request of a session, or nil.
func (l leftRequests) take(s *protocol.Summary) *approvalDialog {
	a := l[s.Session]
	delete(l, s.Session)
	switch {
	case a == nil:
		return nil
	case a.decided(s):
		a.close()
		return nil
	}
	a.gone, a.message = false, ""
	a.panel.Reopen(a.now())
	return a
}

// update keeps the text of a request that a summary shows to be gone.
func (l leftRequests) update(s *protocol.Summary) {
	if a := l[s.Session]; a != nil && a.decided(s) {
		delete(l, s.Session)
		a.close()
	}
}

// newApprovalDialog returns the dialog of a session's request: the one that was left, or a new one.
func (d *Dashboard) newApprovalDialog(s *protocol.Summary) *approvalDialog {
	if left := d.requests.left.take(s); left != nil {
		return left
	}
	session := s.Session
	return &approvalDialog{
		styles: d.Styles, requests: d.requests, overlays: d.overlays, now: d.Now, after: d.After,
		session: session, asked: s.Asked, panel: approval.NewPanel(d.Styles, sessionName(s)),
		height: func() int { return d.canvas.Height },
		keep:   func(text string) string { return d.keepText(session, text) },
	}
}
