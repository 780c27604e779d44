package ui

import (
	"strings"
	"testing"

	"agentctl/tui/keymap"
)

func TestTheHintBelowTheMouse(t *testing.T) {
	keys, err := keymap.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	actions := []keymap.Action{keymap.Interrupt, keymap.ShowSessions, keymap.NextPending, keymap.Help}
	line := " ◐ running 漢 2m · \x1b[2mctrl+x interrupts\x1b[m     2 others waiting: F8 · fix · alt+q clear · F2 sessions · F1 help"
	plain := " ◐ running 漢  2m · ctrl+x interrupts     2 others waiting: F8 · fix · alt+q clear · F2 sessions · F1 help"
	for text, want := range map[string]keymap.Action{
		"ctrl+x": keymap.Interrupt, "interrupts": keymap.Interrupt, "others": keymap.NextPending, "F8": keymap.NextPending,
		"sessions": keymap.ShowSessions, "help": keymap.Help, "running": "", "fix": "", "alt+q": "",
	} {
		column := len([]rune(plain[:strings.Index(plain, text)]))
		if got := HintAt(keys, line, column, actions...); got != want {
			t.Errorf("%s, column %d: got %q, want %q", text, column, got, want)
		}
	}
	if got := HintAt(keys, line, 500, actions...); got != "" {
		t.Errorf("beside the line: got %q", got)
	}
}
