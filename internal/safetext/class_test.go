package safetext

import (
	"testing"
	"unicode"
)

func TestClassesOfCharacters(t *testing.T) {
	for _, c := range []struct {
		runes                     string
		control, invisible, blank bool
	}{
		{"a ~é漢🚀\u0301", false, false, false},
		{"\x00\t\n\r\x1b\x7f\u0080\u0085\u009b", true, true, false},
		{"\u061c\u200e\u200f\u202a\u202e\u2066\u2069\U0010EEEE", true, true, false},
		{"\u00ad\u200b\u200d\u2028\u2029\u2060\ufeff\U000e0041", false, true, false},
		{"\u034f\u115f\ufe0f\U000e0100", false, true, false},
		{"\u3164\uffa0", false, true, true},
		{"\u00a0\u2003\u202f\u3000\u2800", false, false, true},
	} {
		for _, r := range c.runes {
			if IsControl(r) != c.control || IsInvisible(r) != c.invisible || IsBlank(r) != c.blank {
				t.Errorf("%U: control %v, invisible %v, blank %v", r, IsControl(r), IsInvisible(r), IsBlank(r))
			}
		}
	}
}

func TestNoUngraphicCharacterIsVisible(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		known := unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
		if known && !IsInvisible(r) {
			t.Errorf("%U is a control, format or separator, and counts as visible", r)
		}
		if unicode.Is(unicode.Bidi_Control, r) && !IsControl(r) {
			t.Errorf("%U changes the direction of text, and is no control", r)
		}
	}
}
