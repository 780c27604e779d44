package ui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/tui/keymap"
)

// The help key shows all keys from their start, then closes the help.
func TestTheHelpKeyShowsAllKeysFirst(t *testing.T) {
	p := NewHelp(NewStyles(time.UTC, ""), keymap.Review)
	text := func() string {
		lines, _ := p.View(80, 24)
		return ansi.Strip(strings.Join(lines, "\n"))
	}
	if got := text(); !strings.Contains(got, "? all") || !strings.Contains(got, "comment") {
		t.Errorf("the first page is\n%s", got)
	}
	question := tea.KeyPressMsg{Code: '?', Text: "?"}
	if r := p.Update(question); r.Close {
		t.Fatal("the key closes the first page")
	}
	if got := text(); !strings.Contains(got, "Review of changes") || strings.Contains(got, "? all") {
		t.Errorf("the page of all keys is\n%s", got)
	}
	if r := p.Update(question); !r.Close {
		t.Error("the key does not close the page of all keys")
	}
}

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
