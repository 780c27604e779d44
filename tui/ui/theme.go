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
	user, agent, good, bad, warn, code, heading, dim color.Color

	added, removed color.Color // background of diff lines; nil: good and bad are their foreground
	ink            color.Color // foreground on the other colours; nil: reverse video

	faint bool // dim text is faint instead of coloured
}

func rgb(hex string) color.Color { return lipgloss.Color(hex) }

var (
	sixteen = palette{
		user: lipgloss.Cyan, agent: lipgloss.Green, good: lipgloss.Green, bad: lipgloss.Red, warn: lipgloss.Yellow,
		code: lipgloss.Cyan, heading: lipgloss.Magenta, faint: true,
	}
	onDark = palette{
		user: rgb("#6cb6ff"), agent: rgb("#8ddb8c"), good: rgb("#8ddb8c"), bad: rgb("#ff8f85"), warn: rgb("#e8b84a"),
		code: rgb("#76d0d0"), heading: rgb("#dcb1ff"), dim: rgb("#a0a0a0"),
		added: rgb("#12331e"), removed: rgb("#451a1d"), ink: rgb("#000000"),
	}
	onLight = palette{
		user: rgb("#0550ae"), agent: rgb("#1a6630"), good: rgb("#1a6630"), bad: rgb("#b3131f"), warn: rgb("#7a4a00"),
		code: rgb("#005f6b"), heading: rgb("#6f2dbd"), dim: rgb("#5e5e5e"),
		added: rgb("#d9f7df"), removed: rgb("#ffe3e0"), ink: rgb("#ffffff"),
	}
	contrastDark = palette{
		user: rgb("#7fd4ff"), agent: rgb("#7dff7d"), good: rgb("#7dff7d"), bad: rgb("#ffa8a8"), warn: rgb("#ffe600"),
		code: rgb("#7dffff"), heading: rgb("#ffb8ff"),
	}
	contrastLight = palette{
		user: rgb("#00308f"), agent: rgb("#004d00"), good: rgb("#004d00"), bad: rgb("#8b0000"), warn: rgb("#5a3300"),
		code: rgb("#00424f"), heading: rgb("#4b0082"),
	}
)

// terminalColors holds the inputs of the choice of a palette.
type terminalColors struct {
	theme     Theme
	known     bool // the terminal has reported its background
	light     bool
	limited   bool // at most sixteen colours
	trueColor bool // 24-bit colours
}

// palette returns the palette of the theme on this terminal. Until the background is known,
// ThemeAuto has the terminal's colours and ThemeContrast none.
func (w *terminalColors) palette() palette {
	p := w.chosen()
	if !w.trueColor { // backgrounds would be too bright, or grey
		p.added, p.removed, p.ink = nil, nil, nil
	}
	return p
}

func (w *terminalColors) chosen() palette {
	switch {
	case w.theme == ThemeSixteen || w.theme != ThemeContrast && w.limited:
		return sixteen
	case w.theme == ThemeDark:
		return onDark
	case w.theme == ThemeLight:
		return onLight
	case w.theme == ThemeContrast && (!w.known || w.limited):
		return palette{}
	case w.theme == ThemeContrast && w.light:
		return contrastLight
	case w.theme == ThemeContrast:
		return contrastDark
	case !w.known:
		return sixteen
	case w.light:
		return onLight
	}
	return onDark
}

// Query returns a command that requests the terminal's background, or nil if the theme does not
// depend on it.
func (l *Styles) Query() tea.Cmd {
	if t := l.colors.theme; t != ThemeAuto && t != ThemeContrast {
		return nil
	}
	return tea.RequestBackgroundColor
}

// Update handles the terminal's reports of its colours and of how it measures text. It reports
// whether the styles have changed.
func (l *Styles) Update(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.ModeReportMsg:
		able := msg.Mode == ansi.ModeUnicodeCore && !msg.Value.IsNotRecognized() && !msg.Value.IsPermanentlyReset()
		if !able || l.GraphemeWidths {
			return false
		}
		l.GraphemeWidths = true
		return true
	case tea.BackgroundColorMsg:
		l.colors.known, l.colors.light = true, !msg.IsDark()
	case tea.ColorProfileMsg:
		l.colors.limited = msg.Profile <= colorprofile.ANSI
		l.colors.trueColor = msg.Profile == colorprofile.TrueColor
	}
	p := l.colors.palette()
	if p == l.palette {
		return false
	}
	l.setPalette(p)
	return true
}
