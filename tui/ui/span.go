package ui

import (
	"image/color"

	"charm.land/lipgloss/v2"

	"agentctl/tui/transcript"
)

// spanStyle returns the style of a span of text.
func (p *palette) spanStyle(style transcript.Style) lipgloss.Style {
	s := lipgloss.NewStyle().
		Bold(style&transcript.Strong != 0).
		Italic(style&transcript.Emphasis != 0).
		Underline(style&(transcript.Link|transcript.Underline) != 0).
		Strikethrough(style&transcript.Strikethrough != 0)
	switch {
	case style&transcript.Added != 0:
		return p.diffStyle(s, style, p.success, p.added, p.addedWord)
	case style&transcript.Removed != 0:
		return p.diffStyle(s, style, p.failure, p.removed, p.removedWord)
	case style&transcript.Code != 0:
		s = tint(s, p.code)
	case style&transcript.Heading != 0:
		s = tint(s, p.heading)
	}
	if style&transcript.Ground != 0 && p.block != nil {
		s = s.Background(p.block)
		if style&(transcript.Code|transcript.Heading) == 0 {
			s = tint(s, p.text)
		}
	}
	s = tint(s, p.hueColor(style))
	if style&transcript.Reverse != 0 {
		return p.inverseStyle(s, p.hueColor(style))
	}
	if style&transcript.Faint != 0 {
		s = tint(s, p.muted).Faint(p.faint)
	}
	return s
}

// diffStyle returns the style of a span in an added or removed line. With bg the span keeps its own
// hue; without bg it has the colour fg. A word that differs has the background word.
func (p *palette) diffStyle(s lipgloss.Style, style transcript.Style, fg, bg, word color.Color) lipgloss.Style {
	changed := style&transcript.Changed != 0
	switch {
	case changed && word != nil:
		return tint(s, p.text).Background(word)
	case changed:
		return p.inverseStyle(tint(s, fg), fg)
	case bg == nil:
		return tint(s, fg)
	case style&transcript.Faint != 0:
		s = tint(s, p.muted)
	default:
		s = tint(tint(s, p.text), p.hueColor(style))
	}
	return s.Background(bg)
}

// inverseStyle returns s with the background bg, or reversed if there is no ink.
func (p *palette) inverseStyle(s lipgloss.Style, bg color.Color) lipgloss.Style {
	if p.ink == nil || bg == nil {
		return s.Reverse(true)
	}
	return s.Foreground(p.ink).Background(bg)
}

// hueColor returns the theme's colour of a hue, or nil.
func (p *palette) hueColor(style transcript.Style) color.Color {
	switch style.Hue() {
	case transcript.Red:
		return p.red
	case transcript.Green:
		return p.green
	case transcript.Yellow:
		return p.yellow
	case transcript.Blue:
		return p.blue
	case transcript.Magenta:
		return p.magenta
	case transcript.Cyan:
		return p.cyan
	}
	return nil
}
