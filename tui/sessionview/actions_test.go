package sessionview

import (
	"testing"

	"agentctl/internal/dev/tuitest"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/input"
)

// The common screen opens the palette. The program leaves the session, acts on panes and jumps between
// sessions.
func TestEveryGlobalActionHasAPart(t *testing.T) {
	s := open(t, tuitest.Scenes["transcript"](), 80, 24)
	for _, d := range keymap.Definitions() {
		elsewhere := d.Action == keymap.OpenPalette || d.Action == keymap.PanePrefix || input.LeavesSession(d.Action)
		if _, ok := s.m.actions[d.Action]; d.Scope == keymap.Global && !elsewhere && !ok {
			t.Errorf("no part carries out %s", d.Action)
		}
	}
}
