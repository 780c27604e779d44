package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/sessionlist"
	"agentctl/tui/ui"
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

// approvals opens the dialogs of requests.
type approvals struct {
	requests *requester
	list     *sessionlist.List
	walk     *walk
	open     OpenSessions
	now      func() time.Time
	canvas   *ui.Canvas      // of the screen
	shown    *approvalDialog // the last one; nil: none
}

// touch records a key press, which counts for the guard of the open dialog.
func (a *approvals) touch() {
	if a.requests.overlays.Contains(a.shown) {
		a.shown.panel.Touch(a.now())
	}
}

// show opens the approval dialog for a session: the one that was left, or a new one.
func (a *approvals) show(s *protocol.Summary) tea.Cmd {
	if s.Status != protocol.Waiting {
		a.requests.Status.Text = sessionName(s) + " has no request"
		return nil
	}
	dialog := a.requests.left.take(s)
	if dialog == nil {
		session := s.Session
		dialog = &approvalDialog{
			styles: a.requests.styles, requests: a.requests, overlays: a.requests.overlays, walk: a.walk, now: a.now,
			session: session, panel: approval.NewPanel(a.requests.styles, sessionName(s)),
			height: func() int { return a.canvas.Height },
			keep:   func(text string) string { return a.keepText(session, text) },
		}
	}
	dialog.asked, dialog.count = s.Asked, s.Approvals
	if a.walk.replaced {
		a.walk.replaced = false
		dialog.panel.Replace(a.now())
	}
	a.shown = dialog
	a.requests.overlays.Push(dialog)
	return dialog.fetch()
}

// keepText adds what was written about a removed request to the unsent message of its session.
// It returns where it is, or "" without a text.
func (a *approvals) keepText(session, text string) (where string) {
	s, ok := a.list.Get(session)
	if !ok || text == "" {
		return ""
	}
	a.open.KeepText(session, text)
	return "your text is in the message box of " + sessionName(&s)
}
