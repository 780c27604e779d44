package transcript

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestWidthIsThatOfTheCells(t *testing.T) {
	pieces := []string{
		"a", "word ", "~", "m", "│", "█", "\u25fc", "\u25fd", "\u24ff", "é", "·", "…", "‹", "→", "↔", "●", "✓", "✔",
		"⚠", "e\u0301", "\u0301", "\u200d", "\ufe0f", "漢", "👩‍🚀", "\x1b[m", "\x1b[1;38;2;1;2;3m", "\x1b[", "\x1b",
		"\x1b[1", "\x1b[ q", "\x1b]8;;http://x\x1b\\", "\t", "\x00", "\x7f", "\x9b1m", "\xe2", "\xe2\x94", "\xff",
	}
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12).Draw(t, "line"), "")
		if got, want := Width(line), ansi.StringWidth(line); got != want {
			t.Fatalf("%q: got %d, want %d", line, got, want)
		}
	})
}

func TestEveryMarkHasOneCell(t *testing.T) {
	for r := range rune(0x3000) {
		if line := "a" + string(r) + string(r) + "b"; isMark(r) && ansi.StringWidth(line) != 4 {
			t.Errorf("%q has %d cells, want 4", line, ansi.StringWidth(line))
		}
	}
}

func BenchmarkWidth(b *testing.B) {
	line := "\x1b[1m│\x1b[m " + strings.Repeat("\x1b[32mok\x1b[m  pkg 0.1s ", 12)
	b.Run("own", func(b *testing.B) {
		for b.Loop() {
			Width(line)
		}
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			ansi.StringWidth(line)
		}
	})
}
