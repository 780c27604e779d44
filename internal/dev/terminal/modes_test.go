package terminal

import (
	"slices"
	"testing"
)

func TestUnrestoredModes(t *testing.T) {
	for output, want := range map[string][]string{
		"plain": nil,
		"\x1b[?1049h\x1b[?25l x \x1b[?25h\x1b[?1049l":  nil,
		"\x1b[?1049h\x1b[?25l x":                       {"mode 1049 is set", "mode 25 is reset"},
		"\x1b[?1002;1006h\x1b[?1002l":                  {"mode 1006 is set"},
		"\x1b[?2026h\x1b[?2026l\x1b[?2026h\x1b[?2026l": nil,
		"\x1b[?1007s\x1b[?1007h x \x1b[?1007r":         nil,
		"\x1b[?1007s\x1b[?1007h x":                     {"mode 1007 is set"},
		"\x1b[>1u\x1b[<u":                              nil,
		"\x1b[>1u":                                     {"the keyboard is enhanced"},
		"\x1b[=1;1u":                                   {"the keyboard is enhanced"},
		"\x1b[=1;1u\x1b[=0;1u":                         nil,
		"\x1b[>4;2m":                                   {"modified keys are reported"},
		"\x1b[>4;2m\x1b[>4m":                           nil,
	} {
		if got := UnrestoredModes([]byte(output)); !slices.Equal(got, want) {
			t.Errorf("%q leaves %q, want %q", output, got, want)
		}
	}
}
