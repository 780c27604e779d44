package approval

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// click handles a click in a review. One on the changes is for these. One below them is for the
// form, under the guard of its keys: it shows the form, selects a row, or confirms the selected
// one.
func (v *patchReview) click(msg tea.MouseClickMsg) ui.Response {
	if v.body.Typing() || v.form.Typing() || v.form.awaits.always != nil || msg.Button != tea.MouseLeft {
		return ui.Response{}
	}
	p := v.panel
	p.Touch(p.styles.Now())
	switch {
	case msg.Y < v.rows:
		v.deciding = false
		return v.body.Update(msg)
	case !v.deciding: // the rows move: a double click must not confirm one
		v.deciding = true
		p.rearm()
		return ui.Response{}
	}
	return v.apply(p.Click(p.pending, msg.Y-v.rows, msg.X))
}

// Click handles a click on a cell of the last view. The owner must call Touch before, as for
// a key. The first click on a row of the form selects it, a click on the
// selected row does what the key does that confirms it, under the same guard: a new request decides
// nothing, nor does a request that was not on the screen. What a key must confirm, no click does.
func (p *Panel) Click(pending []protocol.Approval, line, column int) Result {
	r, f := p.Current(pending)
	if r == nil || f.sending != "" || f.Typing() || f.awaits.always != nil || line < 0 || line >= len(p.lines) {
		return Result{}
	}
	at := slices.Index(f.rows, p.lines[line].rowAt(column-frameWidth/2))
	switch {
	case at < 0:
		return Result{}
	case at != f.selected:
		f.selected, f.err = at, ""
		return Result{}
	case !p.guard.Ready():
		return Result{Status: tooSoon}
	}
	f.err = ""
	return p.act(r, f, keymap.Choose)
}
