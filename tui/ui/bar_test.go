package ui

import (
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestBar(t *testing.T) {
	for _, c := range []struct {
		fraction float64
		width    int
		want     string
	}{
		{0, 4, "░░░░"},
		{0.01, 4, "█░░░"},
		{0.5, 4, "██░░"},
		{0.99, 4, "███░"},
		{1, 4, "████"},
		{7, 3, "███"},
		{-1, 2, "░░"},
		{0.3, 0, ""},
		{0.2, 1, "█"},
	} {
		if got := Bar(c.fraction, c.width); got != c.want {
			t.Errorf("Bar(%v, %d) = %q, want %q", c.fraction, c.width, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 50).Draw(t, "width")
		if n := utf8.RuneCountInString(Bar(rapid.Float64().Draw(t, "fraction"), width)); n != width {
			t.Fatalf("%d cells, want %d", n, width)
		}
	})
}
