package ui

import "testing"

func TestSanitize(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain 漢字", "plain 漢字"},
		{"\x1b[1;38:5:7mbold\x1b[m", "\x1b[1;38:5:7mbold\x1b[m"},
		{"a\x1b[2Jb", "a[2Jb"},
		{"a\x1b]0;x\ab\x7f", "a]0;xb"},
		{"a\u009b2Jé\u00a0b", "a2Jé\u00a0b"},
		{"\x1b[31", "[31"},
		{"\x1b]8;;https://x.y/?a=b\x1b\\x\x1b]8;;\x1b\\", "\x1b]8;;https://x.y/?a=b\x1b\\x\x1b]8;;\x1b\\"},
		{"\x1b]8;;https://x.y\x1b\\x", "\x1b]8;;https://x.y\x1b\\x\x1b]8;;\x1b\\"},
		{"\x1b]8;;file:///etc\x1b\\x", "]8;;file:///etc\\x"},
		{"\x1b]8;id=1;https://x\x1b\\x", "]8;id=1;https://x\\x"},
		{"\x1b]8;;https://x\ax", "]8;;https://xx"},
		{"\x1b", ""},
	} {
		if got := Sanitize(c.in); got != c.want {
			t.Errorf("Sanitize(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestALineStartsOrEndsWithARule(t *testing.T) {
	for line, want := range map[string][2]bool{
		"":                               {},
		"─":                              {true, true},
		"\x1b[2m\x1b[31m─ title ─\x1b[m": {true, true},
		"─ title m":                      {true, false},
		" text ─\x1b[0;1m\x1b[m":         {false, true},
		"│ ── m\x1b[m":                   {},
	} {
		if got := [2]bool{StartsWithRule(line), EndsWithRule(line)}; got != want {
			t.Errorf("%q: got %v, want %v", line, got, want)
		}
	}
}
