package ui

import (
	"slices"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

func TestAPageFillsItsSizeAndKeepsItsLastRow(t *testing.T) {
	s := NewStyles(time.UTC, ThemeDark)
	for height, want := range map[int][]string{
		1: {"last"},
		2: {"─ title ────", "last"},
		3: {"─ title ────", "one", "last"},
		5: {"─ title ────", "one", "two", "", "last"},
	} {
		if got := s.Page("title", []string{"one", "two"}, "last", 12, height); !slices.Equal(stripped(got), want) {
			t.Errorf("%d rows: %q", height, got)
		}
	}
}

func TestAHintRowKeepsTheKeyAtTheRight(t *testing.T) {
	s := NewStyles(time.UTC, ThemeDark)
	for width, want := range map[int]string{
		40: " enter open · / find           esc back ",
		24: " enter open    esc back ",
		12: "   esc back ",
	} {
		if got := ansi.Strip(s.HintRow("enter open · / find", "esc back", width)); got != want {
			t.Errorf("%d cells: %q", width, got)
		}
	}
}

// stripped returns lines without styles.
func stripped(lines []string) (out []string) {
	for _, line := range lines {
		out = append(out, ansi.Strip(line))
	}
	return out
}
