package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/approval"
	"agentctl/tui/ui"
)

// requestOverlay shows the whole request of an approval dialog. Its keys count for the guard of the
// dialog, and the dialog carries out its decision. It closes with the dialog.
type requestOverlay struct {
	ui.Overlay
	dialog *approvalDialog
}

// Update passes a message on.
func (o *requestOverlay) Update(msg tea.Msg) ui.Response {
	a := o.dialog
	if !a.overlays.Contains(a) {
		return ui.Response{Close: true}
	}
	if _, ok := msg.(tea.KeyPressMsg); ok {
		a.panel.Touch(a.now())
	}
	r := o.Overlay.Update(msg)
	if result, ok := r.Intent.(approval.Result); ok {
		done := a.apply(result)
		r.Intent, r.Cmd = nil, tea.Batch(r.Cmd, done.Cmd)
	}
	r.Cmd = tea.Batch(r.Cmd, a.arm())
	return r
}
