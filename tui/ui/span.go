package ui

import (
	"image/color"

	"charm.land/lipgloss/v2"

	"agentctl/tui/transcript"
)

// span returns the style of a span of text.
func (p *palette) span(style transcript.Style) lipgloss.Style {
	s := lipgloss.NewStyle().
		Bold(style&transcript.Strong != 0).
		Italic(style&transcript.Emphasis != 0).
		Underline(style&(transcript.Link|transcript.Underline) != 0).
		Strikethrough(style&transcript.Strikethrough != 0)
	switch {
	case style&transcript.Added != 0:
		return p.diff(s, style, p.good, p.added)
	case style&transcript.Removed != 0:
		return p.diff(s, style, p.bad, p.removed)
	case style&transcript.Code != 0:
		s = tint(s, p.code)
	case style&transcript.Heading != 0:
		s = tint(s, p.heading)
	}
	s = tint(s, p.hue(style))
	if style&transcript.Reverse != 0 {
		return p.inverse(s, p.hue(style))
	}
	if style&transcript.Faint != 0 {
		s = tint(s, p.dim).Faint(p.faint)
	}
	return s
}

// diff returns the style of a span in an added or removed line. With a background the span keeps
// its own hue; without one it has the line's colour.
func (p *palette) diff(s lipgloss.Style, style transcript.Style, own, behind color.Color) lipgloss.Style {
	switch {
	case style&transcript.Changed != 0:
		return p.inverse(tint(s, own), own)
	case behind == nil:
		return tint(s, own)
	case style&transcript.Faint != 0:
		s = tint(s, p.dim)
	default:
		s = tint(s, p.hue(style))
	}
	return s.Background(behind)
}

// inverse returns s with the colours reversed, on a background of the given colour.
func (p *palette) inverse(s lipgloss.Style, own color.Color) lipgloss.Style {
	if p.ink == nil || own == nil {
		return s.Reverse(true)
	}
	return s.Foreground(p.ink).Background(own)
}

// hue returns the theme's colour of a hue, or nil.
func (p *palette) hue(style transcript.Style) color.Color {
	switch style.Hue() {
	case transcript.Red:
		return p.bad
	case transcript.Green:
		return p.good
	case transcript.Yellow:
		return p.warn
	case transcript.Blue:
		return p.user
	case transcript.Magenta:
		return p.heading
	case transcript.Cyan:
		return p.code
	}
	return nil
}
