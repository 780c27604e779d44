package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestFirstRunesKeepsWidth(t *testing.T) {
	pieces := []string{
		"👨\u200d👩\u200d👧\u200d👦", "👍🏿", "❤️", "⚠️", "1️⃣", "🇩🇪", "👩🏽\u200d💻",
		"🏳️\u200d🌈", "🫱🏻\u200d🫲🏿", "✅", "©️", "🏿", "\ufe0f", "a\u200db",
		"漢字", "é", "e\u0301", "x", " ", "\x1b[1m", "\x1b[m", "שלום",
	}
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "")
		out := firstRunes(line)
		if got, want := ansi.StringWidthWc(out), ansi.StringWidth(line); got != want {
			t.Errorf("firstRunes(%q) = %q: got %d cells, want %d", line, out, got, want)
		}
	})
	for _, line := range []string{"漢字 and ✅", "Bonjour é", "🇩🇪", "a\u200db"} {
		if got := firstRunes(line); got != line {
			t.Errorf("firstRunes(%q) = %q, want no change", line, got)
		}
	}
}
