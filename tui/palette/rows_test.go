package palette

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

func TestRowsFitAnyTerminal(t *testing.T) {
	s := ui.NewStyles(time.UTC, "")
	scopes := map[keymap.Screens]keymap.Scope{keymap.OnSession: keymap.Composer, keymap.OnDashboard: keymap.Sessions}
	for screen, scope := range scopes {
		l := NewList(s)
		l.Find(OfScreen(s.Keys, screen, scope), "")
		if l.Len() < 10 {
			t.Fatalf("got %d commands", l.Len())
		}
		for i := range l.found {
			if row := ansi.Strip(l.row(&l.found[i], false, 80)); strings.Contains(row, "…") {
				t.Errorf("cut at 80 columns: %q", row)
			}
		}
	}
}
