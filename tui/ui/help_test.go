package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/keymap"
)

func TestHelpIsComplete(t *testing.T) {
	styles := NewStyles(time.UTC, "")
	for _, width := range []int{40, 60, 80, 200} {
		b := (&helpItem{styles, keymap.Global, true}).Block(width, false)
		var text strings.Builder
		for _, line := range b.Body {
			if n := ansi.StringWidth(line); n > width {
				t.Errorf("line of %d cells, want at most %d: %q", n, width, line)
			}
			text.WriteString(ansi.Strip(line) + " ")
		}
		words := strings.Join(strings.Fields(text.String()), " ")
		for _, d := range keymap.Definitions() {
			if !strings.Contains(words, d.About) {
				t.Errorf("width %d: help lacks %q", width, d.About)
			}
		}
	}
}
