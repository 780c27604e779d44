package approval

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"agentctl/protocol"
	"agentctl/tui/ui"
)

// BenchmarkLargePatch shows a request of 20,000 lines: when it arrives, and at each drawing.
func BenchmarkLargePatch(b *testing.B) {
	var patch strings.Builder
	for i := range 20 {
		fmt.Fprintf(&patch, "--- a/f%d.go\n+++ b/f%d.go\n@@ -1,0 +1,1000 @@\n", i, i)
		for j := range 1000 {
			fmt.Fprintf(&patch, "+var value%d = compute(%d) // of file %d\n", j, j, i)
		}
	}
	pending := []protocol.Approval{{Request: "r", Kind: protocol.ApprovePatch, Patch: patch.String()}}
	b.Run("arrives", func(b *testing.B) {
		for b.Loop() {
			p := NewPanel(ui.NewStyles(time.UTC, ""), "")
			p.SetPending(pending, "", true)
			p.View(80, 20, true)
		}
	})
	b.Run("drawn", func(b *testing.B) {
		p := NewPanel(ui.NewStyles(time.UTC, ""), "")
		p.SetPending(pending, "", true)
		p.View(80, 20, true)
		for b.Loop() {
			p.View(80, 20, true)
		}
	})
}
