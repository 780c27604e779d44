package sessionview

import tea "charm.land/bubbletea/v2"

// FocusMsg tells a view beside others that the keys go to it from now on.
type FocusMsg struct{}

// takeFocus handles that the keys go to the view from now on. A key that follows at once decides no
// request.
func (v *View) takeFocus() tea.Cmd {
	if v.focus == onApproval {
		v.panels.approvals.TakeFocus()
	}
	v.canvas.Dirty = true
	return v.armApproval()
}
