package ui

import (
	"image/color"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// Theme names the colours of a screen. Whatever it is, no meaning hangs on
// colour alone, and NO_COLOR leaves all of them out.
type Theme string

// The themes.
const (
	ThemeAuto     Theme = "auto"     // dark or light, as the terminal's background is
	ThemeDark     Theme = "dark"     // for a dark background
	ThemeLight    Theme = "light"    // for a light one
	ThemeContrast Theme = "contrast" // nothing faint, and colours far from the background
	ThemeSixteen  Theme = "16"       // the terminal's own sixteen colours
)

// Themes lists every theme, the default first.
func Themes() []Theme {
	return []Theme{ThemeAuto, ThemeDark, ThemeLight, ThemeContrast, ThemeSixteen}
}

// palette is the colours of a theme; nil is the terminal's own.
type palette struct {
	user, agent, good, bad, warn, code, heading, dim color.Color

	added, removed color.Color // behind lines of a diff; nil: they are good and bad themselves
	ink            color.Color // on the other colours; nil: the text is reversed

	faint bool // what is dim is faint, rather than of a colour
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

// terminalColors is what the choice of a palette depends on.
type terminalColors struct {
	theme     Theme
	known     bool // the terminal told its background
	light     bool
	limited   bool // it has sixteen colours or none
	trueColor bool // it has all of them
}

// palette is the theme on this terminal. Until the background is known it is the
// terminal's own, and for contrast no colour at all.
func (w *terminalColors) palette() palette {
	p := w.chosen()
	if !w.trueColor { // what is behind words would come out too bright, or grey
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

// Query asks the terminal for its background, where that makes a difference.
func (l *Styles) Query() tea.Cmd {
	if t := l.colors.theme; t != ThemeAuto && t != ThemeContrast {
		return nil
	}
	return tea.RequestBackgroundColor
}

// Update takes what the terminal tells of its colours and of how it counts cells.
// It reports whether everything looks different now.
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
