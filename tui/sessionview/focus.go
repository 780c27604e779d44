package sessionview

import tea "charm.land/bubbletea/v2"

// FocusMsg tells a view beside others that the keys go to it from now on.
type FocusMsg struct{}

// SetElsewhere sets whether the keys go to another view beside this one. The prompt of this one is
// then plain.
func (v *View) SetElsewhere(elsewhere bool) {
	v.canvas.Dirty = v.canvas.Dirty || v.composer.Elsewhere != elsewhere
	v.composer.Elsewhere = elsewhere
}

// SetBeside sets whether a border is beside the view. The frame of a request has no sides then.
func (v *View) SetBeside(beside bool) {
	v.canvas.Dirty = v.canvas.Dirty || v.panels.approvals.Open() != beside
	v.panels.approvals.SetOpen(beside)
}

// takeFocus handles that the keys go to the view from now on. A key that follows at once decides no
// request.
func (v *View) takeFocus() tea.Cmd {
	if v.focus == onApproval {
		v.panels.approvals.TakeFocus()
	}
	v.canvas.Dirty = true
	return v.armApproval()
}
