package ui

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Style renders text of one line as its lipgloss style does, many times faster: it makes its
// sequences once.
type Style struct {
	*lipgloss.Style
	begin, end string
}

// NewStyle returns a style with the sequences of s.
func NewStyle(s lipgloss.Style) Style {
	const mark = "x"
	begin, end, _ := strings.Cut(s.Render(mark), mark)
	return Style{&s, begin, end}
}

// Render returns text in the style. The text has no line breaks and no tabs.
func (s Style) Render(text string) string { return s.begin + text + s.end }

// Strong returns the style in bold.
func (s Style) Strong() Style { return NewStyle(s.Bold(true)) }
