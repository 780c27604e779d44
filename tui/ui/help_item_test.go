package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/keymap"
)

func TestNothingOfTheHelpIsCut(t *testing.T) {
	l := NewStyles(time.UTC, "")
	for _, width := range []int{40, 60, 80, 200} {
		b := helpItem{l, keymap.Global}.Block(width, false)
		var all strings.Builder
		for _, line := range b.Body {
			if n := ansi.StringWidth(line); n > width {
				t.Errorf("%d cells in %d: %q", n, width, line)
			}
			all.WriteString(ansi.Strip(line) + " ")
		}
		words := strings.Join(strings.Fields(all.String()), " ")
		for _, b := range keymap.Definitions {
			if !strings.Contains(words, b.About) {
				t.Errorf("at %d the help does not say %q", width, b.About)
			}
		}
	}
}
