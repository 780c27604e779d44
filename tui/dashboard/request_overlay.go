package dashboard

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/approval"
	"agentctl/tui/ui"
)

// requestOverlay shows the whole request of an approval dialog. The dialog carries out its decision.
// It closes with the dialog.
type requestOverlay struct {
	ui.Overlay
	dialog *approvalDialog
}

// View shows in the last line that the request was removed.
func (o *requestOverlay) View(width, height int) ([]string, *tea.Cursor) {
	a := o.dialog
	if !a.gone {
		return o.Overlay.View(width, height)
	}
	lines, cursor := o.Overlay.View(width, height-1)
	return append(lines, a.styles.Warning.Render(ui.Fit(" "+a.KeyHint(), width))), cursor
}

// Update passes a message on.
func (o *requestOverlay) Update(msg tea.Msg) ui.Response {
	a := o.dialog
	if !a.overlays.Contains(a) {
		return ui.Response{Close: true}
	}
	if press, ok := msg.(tea.KeyPressMsg); ok && a.gone && endsText(press.String()) {
		a.overlays.Remove(a)
		return a.close()
	}
	r := o.Overlay.Update(msg)
	if result, ok := r.Intent.(approval.Result); ok {
		done := a.apply(result)
		r.Intent, r.Cmd = done.Intent, tea.Batch(r.Cmd, done.Cmd)
	}
	return r
}
