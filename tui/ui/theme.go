package ui

import (
	"image/color"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// Theme is a set of colours. No theme conveys meaning by colour alone. NO_COLOR removes all
// colours.
type Theme string

// The themes. All but ThemeDark and ThemeLight have colours for both kinds of background.
const (
	ThemeAuto       Theme = "auto"       // dark or light, by the terminal's background
	ThemeDark       Theme = "dark"       // for a dark background
	ThemeLight      Theme = "light"      // for a light background
	ThemeContrast   Theme = "contrast"   // high contrast
	ThemeColorblind Theme = "colorblind" // states differ without red and green
	ThemeEmber      Theme = "ember"      // warm colours
	ThemeFjord      Theme = "fjord"      // cold colours
	ThemeSixteen    Theme = "16"         // the terminal's own sixteen colours
)

// Themes returns all themes, the default first.
func Themes() []Theme {
	return []Theme{
		ThemeAuto, ThemeDark, ThemeLight, ThemeContrast, ThemeColorblind, ThemeEmber, ThemeFjord, ThemeSixteen,
	}
}

// themePalettes holds the palettes of the themes on a dark and on a light background.
var themePalettes = map[Theme]struct{ dark, light *palette }{
	ThemeAuto:       {&darkPalette, &lightPalette},
	ThemeDark:       {&darkPalette, &darkPalette},
	ThemeLight:      {&lightPalette, &lightPalette},
	ThemeContrast:   {&darkContrastPalette, &lightContrastPalette},
	ThemeColorblind: {&darkColorblindPalette, &lightColorblindPalette},
	ThemeEmber:      {&darkEmberPalette, &lightEmberPalette},
	ThemeFjord:      {&darkFjordPalette, &lightFjordPalette},
	ThemeSixteen:    {&ansiPalette, &ansiPalette},
}

// terminalColors holds the inputs of the choice of a palette.
type terminalColors struct {
	theme           Theme
	backgroundKnown bool // the terminal has reported its background
	guessed         bool // COLORFGBG names the background
	lightBackground bool
	limited         bool // at most sixteen colours
	trueColor       bool // 24-bit colours
}

// palette returns the palette of the theme on this terminal. Until the terminal has reported its
// background, a theme that depends on it has no grounds.
func (c *terminalColors) palette() palette {
	p := c.themePalette()
	if !c.trueColor || c.uncertain() { // a ground would be too bright, or grey, or hide default text
		p.ink, p.grounds = nil, grounds{}
	}
	if !c.trueColor { // muted text would have a hue
		p.muted, p.border = indexedGrey(p.muted, p.text), indexedGrey(p.border, p.text)
	}
	return p
}

// indexedGrey returns the one of the 24 greys of 256 colours that is as light as c, or the next one
// towards text. nil stays nil.
func indexedGrey(c, text color.Color) color.Color {
	if c == nil {
		return nil
	}
	const first, darkest, step, last = 232, 8, 10, 23
	up := 0
	if greyLevel(text) > 0x80 { // light text on a dark background
		up = step - 1
	}
	return lipgloss.ANSIColor(first + min(max(greyLevel(c)-darkest+up, 0)/step, last))
}

// greyLevel returns how light a colour is, from 0 to 255. nil is 0.
func greyLevel(c color.Color) int {
	if c == nil {
		return 0
	}
	return int(color.GrayModel.Convert(c).(color.Gray).Y)
}

// themePalette returns the palette of the theme as if the terminal had 24-bit colours or at most
// sixteen.
func (c *terminalColors) themePalette() palette {
	variants, unknown := themePalettes[c.theme], c.uncertain() && !c.guessed
	switch {
	case c.limited, unknown && c.theme == ThemeContrast:
		return c.ansiPalette()
	case unknown:
		return variants.dark.midtone()
	case c.lightBackground:
		return *variants.light
	}
	return *variants.dark
}

// uncertain reports whether the theme depends on a background that the terminal has not reported.
func (c *terminalColors) uncertain() bool {
	variants := themePalettes[c.theme]
	return variants.dark != variants.light && !c.backgroundKnown
}

// ansiPalette returns the palette of the theme for at most sixteen colours.
func (c *terminalColors) ansiPalette() palette {
	switch c.theme {
	case ThemeContrast:
		if c.lightBackground { // bright colours would be hard to read
			return palette{bold: true}
		}
		return ansiContrastPalette
	case ThemeColorblind:
		return ansiColorblindPalette
	}
	return ansiPalette
}

// ThemeMsg asks the program to switch to a theme.
type ThemeMsg struct{ Theme Theme }

// SwitchMouseMsg asks the program to switch mouse reports on or off.
type SwitchMouseMsg struct{}

// SwitchMouse is the command of a [SwitchMouseMsg].
func SwitchMouse() tea.Msg { return SwitchMouseMsg{} }

// Theme returns the theme.
func (s *Styles) Theme() Theme { return s.colors.theme }

// SetTheme switches to a theme. It returns the command of [Styles.Query] unless the background is
// known, and reports whether the styles have changed.
func (s *Styles) SetTheme(theme Theme) (cmd tea.Cmd, changed bool) {
	s.colors.theme = theme
	if !s.colors.backgroundKnown {
		cmd = s.Query()
	}
	return cmd, s.updatePalette()
}

// Query returns a command that requests the terminal's background, or nil if the theme does not
// depend on it.
func (s *Styles) Query() tea.Cmd {
	if variants := themePalettes[s.colors.theme]; variants.dark == variants.light {
		return nil
	}
	return tea.RequestBackgroundColor
}

// GuessBackground takes the value of COLORFGBG, such as 15;0: the colours of text and background.
// A report of the terminal overrides it.
func (s *Styles) GuessBackground(colorFGBG string) {
	n, err := strconv.Atoi(colorFGBG[strings.LastIndexByte(colorFGBG, ';')+1:])
	if err == nil && n >= 0 && n < 16 && !s.colors.backgroundKnown {
		s.colors.guessed, s.colors.lightBackground = true, n == 7 || n > 8 // 8 is dark grey
		s.updatePalette()
	}
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
		colours := msg.Profile >= colorprofile.ANSI256
		drawn := s.Images.Colours != colours
		s.Images.Colours = colours
		return s.updatePalette() || drawn
	}
	return s.updatePalette()
}

// updatePalette derives the styles from the palette of the theme. It reports whether they have
// changed.
func (s *Styles) updatePalette() bool {
	p := s.colors.palette()
	if p == s.palette {
		return false
	}
	s.setPalette(p)
	return true
}
