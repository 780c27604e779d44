package ui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestEveryLineHasTheCellsItWasLaidOutWithOnATerminalThatCountsRunes(t *testing.T) {
	pieces := []string{
		"👨\u200d👩\u200d👧\u200d👦", "👍🏿", "❤️", "⚠️", "1️⃣", "🇩🇪", "👩🏽\u200d💻", "🏳️\u200d🌈", "🫱🏻\u200d🫲🏿", "✅", "©️", "🏿", "\ufe0f", "a\u200db",
		"漢字", "é", "e\u0301", "x", " ", "\x1b[1m", "\x1b[m", "שלום",
	}
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "")
		if got, want := ansi.StringWidthWc(firstRunes(line)), ansi.StringWidth(line); got != want {
			t.Errorf("%q is drawn in %d cells as %q, and was laid out in %d", line, got, firstRunes(line), want)
		}
	})
	for _, line := range []string{"漢字 and ✅", "Bonjour é", "🇩🇪", "a\u200db"} {
		if got := firstRunes(line); got != line {
			t.Errorf("%q became %q, and need not", line, got)
		}
	}
}
