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
		commands := OfScreen(s.Keys, screen, scope)
		if len(commands) < 10 {
			t.Fatalf("got %d commands", len(commands))
		}
		for i := range commands {
			if row := ansi.Strip(row(s, &commands[i], false, 80)); strings.Contains(row, "…") {
				t.Errorf("cut at 80 columns: %q", row)
			}
		}
	}
}
