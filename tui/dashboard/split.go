package dashboard

import "agentctl/tui/keymap"

// SplitIntent shows a session beside that with the focus, as its action says: keymap.SplitRight or
// keymap.SplitBelow.
type SplitIntent struct {
	Session string
	Action  keymap.Action
}

// OpenSplit opens the jump that chooses the session of a split. esc returns to the sessions that
// were shown.
func (d *Dashboard) OpenSplit(action keymap.Action) {
	d.openJump(true, "split: choose the session", func(session string) any { return SplitIntent{session, action} })
}

// splitSelected returns the intent of a split with the selected session, or nil.
func (d *Dashboard) splitSelected(action keymap.Action) any {
	if session := d.Selected(); session != "" {
		return SplitIntent{session, action}
	}
	return nil
}
