package ui

import (
	"image/color"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// Theme is a set of colours. No theme conveys meaning by colour alone. NO_COLOR removes all
// colours.
type Theme string

// The themes.
const (
	ThemeAuto     Theme = "auto"     // dark or light, by the terminal's background
	ThemeDark     Theme = "dark"     // for a dark background
	ThemeLight    Theme = "light"    // for a light background
	ThemeContrast Theme = "contrast" // no faint text, high contrast
	ThemeSixteen  Theme = "16"       // the terminal's own sixteen colours
)

// Themes returns all themes, the default first.
func Themes() []Theme {
	return []Theme{ThemeAuto, ThemeDark, ThemeLight, ThemeContrast, ThemeSixteen}
}

// palette holds the colours of a theme. nil is the terminal's default colour.
type palette struct {
	user, agent, success, failure, warning, code, heading, dim color.Color

	added, removed color.Color // background of diff lines; nil: good and bad are their foreground
	inverseText    color.Color // foreground on the other colours; nil: reverse video

	faint bool // dim text is faint instead of coloured
}

// rgb returns the colour written as #rrggbb.
func rgb(hex string) color.Color { return lipgloss.Color(hex) }

var (
	ansiPalette = palette{
		user: lipgloss.Cyan, agent: lipgloss.Green,
		success: lipgloss.Green, failure: lipgloss.Red, warning: lipgloss.Yellow,
		code: lipgloss.Cyan, heading: lipgloss.Magenta,
		faint: true,
	}
	darkPalette = palette{
		user: rgb("#6cb6ff"), agent: rgb("#8ddb8c"),
		success: rgb("#8ddb8c"), failure: rgb("#ff8f85"), warning: rgb("#e8b84a"),
		code: rgb("#76d0d0"), heading: rgb("#dcb1ff"), dim: rgb("#a0a0a0"),
		added: rgb("#12331e"), removed: rgb("#451a1d"), inverseText: rgb("#000000"),
	}
	lightPalette = palette{
		user: rgb("#0550ae"), agent: rgb("#1a6630"),
		success: rgb("#1a6630"), failure: rgb("#b3131f"), warning: rgb("#7a4a00"),
		code: rgb("#005f6b"), heading: rgb("#6f2dbd"), dim: rgb("#5e5e5e"),
		added: rgb("#d9f7df"), removed: rgb("#ffe3e0"), inverseText: rgb("#ffffff"),
	}
	darkContrastPalette = palette{
		user: rgb("#7fd4ff"), agent: rgb("#7dff7d"),
		success: rgb("#7dff7d"), failure: rgb("#ffa8a8"), warning: rgb("#ffe600"),
		code: rgb("#7dffff"), heading: rgb("#ffb8ff"),
	}
	lightContrastPalette = palette{
		user: rgb("#00308f"), agent: rgb("#004d00"),
		success: rgb("#004d00"), failure: rgb("#8b0000"), warning: rgb("#5a3300"),
		code: rgb("#00424f"), heading: rgb("#4b0082"),
	}
)

// terminalColors holds the inputs of the choice of a palette.
type terminalColors struct {
	theme           Theme
	backgroundKnown bool // the terminal has reported its background
	lightBackground bool
	limited         bool // at most sixteen colours
	trueColor       bool // 24-bit colours
}

// palette returns the palette of the theme on this terminal. Until the background is known,
// ThemeAuto has the terminal's colours and ThemeContrast none.
func (c *terminalColors) palette() palette {
	p := c.themePalette()
	if !c.trueColor { // backgrounds would be too bright, or grey
		p.added, p.removed, p.inverseText = nil, nil, nil
	}
	return p
}

// themePalette returns the palette of the theme as if the terminal had 24-bit colours or at most
// sixteen.
func (c *terminalColors) themePalette() palette {
	switch {
	case c.theme == ThemeSixteen || c.theme != ThemeContrast && c.limited:
		return ansiPalette
	case c.theme == ThemeDark:
		return darkPalette
	case c.theme == ThemeLight:
		return lightPalette
	case c.theme == ThemeContrast && (!c.backgroundKnown || c.limited):
		return palette{}
	case c.theme == ThemeContrast && c.lightBackground:
		return lightContrastPalette
	case c.theme == ThemeContrast:
		return darkContrastPalette
	case !c.backgroundKnown:
		return ansiPalette
	case c.lightBackground:
		return lightPalette
	}
	return darkPalette
}

// Query returns a command that requests the terminal's background, or nil if the theme does not
// depend on it.
func (s *Styles) Query() tea.Cmd {
	if theme := s.colors.theme; theme != ThemeAuto && theme != ThemeContrast {
		return nil
	}
	return tea.RequestBackgroundColor
}

// Update handles the terminal's reports of its colours and of how it measures text. It reports
// whether the styles have changed.
func (s *Styles) Update(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.ModeReportMsg:
		supported := !msg.Value.IsNotRecognized() && !msg.Value.IsPermanentlyReset()
		if msg.Mode != ansi.ModeUnicodeCore || !supported || s.GraphemeWidths {
			return false
		}
		s.GraphemeWidths = true
		return true
	case tea.BackgroundColorMsg:
		s.colors.backgroundKnown, s.colors.lightBackground = true, !msg.IsDark()
	case tea.ColorProfileMsg:
		s.colors.limited = msg.Profile <= colorprofile.ANSI
		s.colors.trueColor = msg.Profile == colorprofile.TrueColor
	}
	p := s.colors.palette()
	if p == s.palette {
		return false
	}
	s.setPalette(p)
	return true
}
