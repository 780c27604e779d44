package redact

import (
	"strings"
	"testing"
)

func TestTheLongestValueIsHidden(t *testing.T) {
	for _, secrets := range [][]string{{"swordfish", "swordfish-1", "short", ""}, {"swordfish-1", "", "short", "swordfish"}} {
		v := NewValues("#", MinValue, secrets)
		if got := v.Hide("a swordfish-1 and swordfish, short"); got != "a # and #, short" {
			t.Errorf("%q: %q", secrets, got)
		}
	}
	if got := new(Values).HideCut("text"); got != "text" {
		t.Errorf("without values: %q", got)
	}
}

func TestTheBeginningOfAValueAtACutIsHidden(t *testing.T) {
	v := NewValues("#", 1, []string{"key-0123456789", "key-0123-other"})
	for text, want := range map[string]string{
		"it is key-0123456789": "it is #", "it is key-0123456": "it is #", "it is key-0123-o": "it is #",
		"it is key-01": "it is #", "it is key-0": "it is key-0", "key-01 is it": "key-01 is it",
	} {
		if got := v.HideCut(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzValues(f *testing.F) {
	f.Add("a swordfish-1", "swordfish", "swordfish-1")
	f.Fuzz(func(t *testing.T, text, one, other string) {
		for part := range strings.SplitSeq(NewValues("\xff", 1, []string{one, other}).Hide(text), "\xff") {
			if one != "" && strings.Contains(part, one) || other != "" && strings.Contains(part, other) {
				t.Errorf("%q has a secret", part)
			}
		}
	})
}
