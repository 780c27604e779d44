package ui

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
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

// A title is on a ground of the full width where the theme has grounds, also after a styled part.
func TestATitleIsOnAGroundWhereTheThemeHasGrounds(t *testing.T) {
	s := NewStyles(time.UTC, ThemeDark)
	title := s.Bold.Render("title") + " plain"
	if got := s.Rule(title, 20); !StartsWithRule(got) || ansi.Strip(got) != "─ title plain ──────" {
		t.Errorf("without grounds: %q", got)
	}
	s.Update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	got := s.Rule(title, 20)
	if ansi.Strip(got) != " title plain        " || strings.Count(got, "48;2;37;39;46m") != 2 {
		t.Errorf("with grounds: %q", got)
	}
	if got := s.Rule("", 20); got != "" {
		t.Errorf("without a title: %q", got)
	}
	field := []string{s.Bold.Render(">") + " text"}
	if got := s.Ground(field, 20); !strings.Contains(got[0], "48;2;37;39;46m") || ansi.Strip(got[0]) != Pad("> text", 20) {
		t.Errorf("lines on a ground: %q", got)
	}
}

// stripped returns lines without styles.
func stripped(lines []string) (out []string) {
	for _, line := range lines {
		out = append(out, ansi.Strip(line))
	}
	return out
}
