package ui

import (
	"strings"

	"agentctl/tui/keymap"
	"agentctl/tui/transcript"
)

// PageFrame is the number of rows of a page around its body.
const PageFrame = 2

// Page draws a screen that covers others in height rows: a rule with a title, the body, and a last
// row, such as a HintRow.
func (s *Styles) Page(title string, body []string, last string, width, height int) []string {
	if height < PageFrame {
		return []string{last}
	}
	return append(append([]string{s.Rule(title, width)}, Rows(body, height-PageFrame)...), last)
}

// Rows returns exactly n lines: the first ones, or all and empty ones.
func Rows(lines []string, n int) []string {
	for len(lines) < n {
		lines = append(lines, "")
	}
	return lines[:max(n, 0)]
}

// HintRow draws the hints of keys that fit, and one at the right that always stays.
func (s *Styles) HintRow(hints, right string, width int) string {
	hints = FitHints(hints, width-transcript.Width(right)-3)
	return Spread(" "+s.hints(hints), s.hints(right)+" ", width)
}

// StateRow draws the state of what a page shows, and hints of keys at the right.
func (s *Styles) StateRow(state, hints string, width int) string {
	return Spread(" "+state, " "+s.hints(s.Keys.MarkFixed(hints))+" ", width)
}

// hints emphasises the keys of hints.
func (s *Styles) hints(hints string) string {
	if hints == "" {
		return ""
	}
	entries := strings.Split(hints, keymap.Separator)
	for i, entry := range entries {
		key, does, _ := strings.Cut(entry, " ")
		entries[i] = s.Bold.Render(key) + s.Dim.Render(Prefixed(" ", does))
	}
	return strings.Join(entries, s.Dim.Render(keymap.Separator))
}
