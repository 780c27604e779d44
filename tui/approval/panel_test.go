package approval

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/protocol"
	"agentctl/tui/ui"
)

func TestPanelNamesTheAgentThatAsked(t *testing.T) {
	for want, by := range map[string]*protocol.Actor{
		"approval · command · asked 09:00 ─":                         nil,
		"approval · command · asked 09:00 by agent of session fix ─": {Name: "agent of \x1b[8msession fix"},
	} {
		now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
		r := protocol.Approval{Request: "r", Kind: protocol.ApproveCommand, Command: "ls", Asked: now}
		r.AskedBy = by
		p := NewPanel(ui.NewStyles(time.UTC, ""), "")
		p.Update([]protocol.Approval{r}, now, true)
		lines, _ := p.View([]protocol.Approval{r}, now, 100, 20, true)
		if got := ansi.Strip(lines[0]); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
