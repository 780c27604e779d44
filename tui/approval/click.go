package approval

import (
	"slices"

	"agentctl/protocol"
	"agentctl/tui/keymap"
)

// Click handles a click on a line of the last view. The owner must call Touch before, and Arm
// afterwards, as for a key. The first click on a row of the form selects it, a click on the
// selected row does what the key does that confirms it, under the same guard: a new request decides
// nothing, nor does a request that was not on the screen. What a key must confirm, no click does.
func (p *Panel) Click(pending []protocol.Approval, line int) Result {
	r, f := p.Current(pending)
	if r == nil || f.sending != "" || f.Typing() || f.awaits.always != nil || line < 0 || line >= len(p.lines) {
		return Result{}
	}
	at := slices.Index(f.rows, p.lines[line])
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
