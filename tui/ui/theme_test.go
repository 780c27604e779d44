package ui

import (
	"image/color"
	"math"
	"testing"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	_ "agentctl/internal/dev/golden" // the flag -update
	"agentctl/tui/transcript"
)

func TestNamedThemeIgnoresBackground(t *testing.T) {
	for theme, want := range map[Theme]palette{
		ThemeDark:    darkPalette,
		ThemeLight:   lightPalette,
		ThemeSixteen: ansiPalette,
	} {
		styles := NewStyles(nil, theme)
		styles.Update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
		if styles.Query() != nil {
			t.Errorf("theme %s queries the background", theme)
		}
		changed := styles.Update(tea.BackgroundColorMsg{Color: color.White}) ||
			styles.Update(tea.BackgroundColorMsg{Color: color.Black})
		if changed || styles.palette != want {
			t.Errorf("theme %s changes with the background", theme)
		}
	}
	if NewStyles(nil, "").Query() == nil || NewStyles(nil, ThemeContrast).Query() == nil {
		t.Error("theme auto or contrast does not query the background")
	}
}

func TestSixteenColourTerminal(t *testing.T) {
	for theme, want := range map[Theme]palette{
		ThemeAuto:       ansiPalette,
		ThemeDark:       ansiPalette,
		ThemeLight:      ansiPalette,
		ThemeEmber:      ansiPalette,
		ThemeFjord:      ansiPalette,
		ThemeSixteen:    ansiPalette,
		ThemeColorblind: ansiColorblindPalette,
		ThemeContrast:   ansiContrastPalette,
	} {
		styles := NewStyles(nil, theme)
		styles.Update(tea.BackgroundColorMsg{Color: color.Black})
		styles.Update(tea.ColorProfileMsg{Profile: colorprofile.ANSI})
		if styles.palette != want {
			t.Errorf("theme %s: palette %+v, want %+v", theme, styles.palette, want)
		}
	}
}

// darkTerminal and lightTerminal are common backgrounds, which are seldom pure black or white.
var darkTerminal, lightTerminal = lipgloss.Color("#282c34"), lipgloss.Color("#fdf6e3")

// texts returns all colours of text.
func (p *palette) texts() []color.Color {
	return []color.Color{
		p.text, p.muted, p.heading, p.code, p.accent, p.success, p.failure, p.warning,
		p.red, p.green, p.yellow, p.blue, p.magenta, p.cyan,
	}
}

// eachPalette calls f for the palettes of all themes but ThemeSixteen, with their backgrounds.
func eachPalette(f func(theme Theme, p *palette, background color.Color)) {
	for theme, variants := range themePalettes {
		if theme == ThemeSixteen {
			continue
		}
		if theme != ThemeLight {
			f(theme, variants.dark, darkTerminal)
		}
		if theme != ThemeDark {
			f(theme, variants.light, lightTerminal)
		}
	}
}

// WCAG 2.2 requires a contrast of at least 4.5 (1.4.3), or 7 for enhanced contrast (1.4.6).
func TestTextIsReadableOnEveryGround(t *testing.T) {
	eachPalette(func(theme Theme, p *palette, background color.Color) {
		minimum := 4.5
		if theme == ThemeContrast {
			minimum = 7
		}
		if p.faint {
			t.Errorf("%s: palette has faint text", theme)
		}
		for _, fg := range p.texts() {
			if got := contrast(p.ink, fg); got < minimum {
				t.Errorf("%s: ink on %v: contrast %.1f, want at least %.1f", theme, fg, got, minimum)
			}
			for _, bg := range []color.Color{background, p.element, p.block, p.added, p.removed} {
				if got := contrast(fg, bg); got < minimum {
					t.Errorf("%s: %v on %v: contrast %.1f, want at least %.1f", theme, fg, bg, got, minimum)
				}
			}
		}
		for _, bg := range []color.Color{p.addedWord, p.removedWord} {
			if got := contrast(p.text, bg); got < minimum {
				t.Errorf("%s: text on %v: contrast %.1f, want at least %.1f", theme, bg, got, minimum)
			}
		}
	})
}

// Lines and other marks need a contrast of at least 3 (WCAG 1.4.11).
func TestBorderIsVisible(t *testing.T) {
	eachPalette(func(theme Theme, p *palette, background color.Color) {
		if got := contrast(p.border, background); got < 3 {
			t.Errorf("%s: border on %v: contrast %.1f, want at least 3", theme, background, got)
		}
	})
}

func TestSelectionIsVisible(t *testing.T) {
	for _, theme := range Themes() {
		profiles := []colorprofile.Profile{colorprofile.TrueColor, colorprofile.ANSI256, colorprofile.ANSI}
		for _, profile := range profiles {
			s := NewStyles(nil, theme)
			s.Update(tea.ColorProfileMsg{Profile: profile})
			s.Update(tea.BackgroundColorMsg{Color: color.Black})
			for name, style := range map[string]Style{"selected": s.Selected, "match": s.Match} {
				if style.GetBackground() == (lipgloss.NoColor{}) && !style.GetReverse() {
					t.Errorf("theme %s with %v: %s text has no ground and is not reversed", theme, profile, name)
				}
			}
		}
	}
}

// In the theme for the colour-blind, a person without green cones sees three colours for success,
// failure and warning. The theme for others shows that the test can fail.
func TestColorblindThemeSeparatesStates(t *testing.T) {
	const minimum = 0.15 // in OKLab
	least := func(p *palette) float64 {
		return min(
			deuteranopeDistance(p.success, p.failure),
			deuteranopeDistance(p.success, p.warning),
			deuteranopeDistance(p.failure, p.warning),
		)
	}
	for _, p := range []*palette{&darkColorblindPalette, &lightColorblindPalette} {
		if got := least(p); got < minimum {
			t.Errorf("distance of states %.2f, want at least %.2f", got, minimum)
		}
	}
	if got := least(&darkPalette); got >= minimum {
		t.Errorf("the dark theme has a distance of %.2f: the simulation has no effect", got)
	}
}

// deuteranopeDistance returns the distance in OKLab of two colours as a person without green cones
// sees them, by Machado, Oliveira and Fernandes (2009).
func deuteranopeDistance(a, b color.Color) float64 {
	see := func(c color.Color) [3]float64 {
		r, g, b := linearRGB(c)
		return okLab(
			min(max(0.367322*r+0.860646*g-0.227968*b, 0), 1),
			min(max(0.280085*r+0.672501*g+0.047413*b, 0), 1),
			min(max(-0.011820*r+0.042940*g+0.968881*b, 0), 1),
		)
	}
	x, y := see(a), see(b)
	return math.Hypot(math.Hypot(x[0]-y[0], x[1]-y[1]), x[2]-y[2])
}

// okLab converts linear RGB to OKLab.
func okLab(r, g, b float64) [3]float64 {
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	return [3]float64{
		0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}

// contrast returns the WCAG contrast ratio of two colours, from 1 to 21.
func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance returns the WCAG relative luminance of a colour, from 0 to 1.
func luminance(c color.Color) float64 {
	r, g, b := linearRGB(c)
	return 0.2126*r + 0.7152*g + 0.0722*b
}

// linearRGB returns the components of a colour without gamma correction, from 0 to 1.
func linearRGB(c color.Color) (r, g, b float64) {
	linear := func(v uint32) float64 {
		f := float64(v) / 0xffff
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	red, green, blue, _ := c.RGBA()
	return linear(red), linear(green), linear(blue)
}

// A span of any style has only colours of its palette.
func TestSpanUsesPaletteColours(t *testing.T) {
	palettes := []palette{ansiPalette, ansiContrastPalette, darkPalette.midtone()}
	eachPalette(func(_ Theme, p *palette, _ color.Color) { palettes = append(palettes, *p) })
	for _, p := range palettes {
		allowed := map[color.Color]bool{nil: true, lipgloss.NoColor{}: true}
		for _, c := range append(p.texts(), p.element, p.block, p.added, p.removed, p.addedWord, p.removedWord, p.ink) {
			allowed[c] = true
		}
		for _, base := range []transcript.Style{
			0, transcript.Ground, transcript.Ground | transcript.Code,
			transcript.Added, transcript.Removed, transcript.Faint, transcript.Code,
			transcript.Changed | transcript.Added, transcript.Heading,
		} {
			for _, hue := range []transcript.Style{
				0, transcript.Red, transcript.Green, transcript.Yellow, transcript.Blue, transcript.Magenta,
				transcript.Cyan,
			} {
				s := p.spanStyle(base | hue)
				fg, bg := s.GetForeground(), s.GetBackground()
				if !allowed[fg] || !allowed[bg] {
					t.Errorf("style %x: %v on %v, want colours of the palette", base|hue, fg, bg)
				}
			}
		}
	}
}

func TestDiffBackgroundNeedsTrueColour(t *testing.T) {
	styles := NewStyles(nil, ThemeDark)
	if styles.palette.added != nil {
		t.Error("diff lines have a background before the terminal reported its colours")
	}
	styles.Update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	if styles.palette != darkPalette {
		t.Errorf("24-bit colours: palette %+v, want %+v", styles.palette, darkPalette)
	}
	styles.Update(tea.ColorProfileMsg{Profile: colorprofile.ANSI256})
	if styles.palette.added != nil || styles.palette.success != darkPalette.success {
		t.Errorf("256 colours: palette %+v, want %+v without backgrounds", styles.palette, darkPalette)
	}
}

// The nearest of 256 colours to a grey with a slight hue is not a grey.
func TestMutedTextIsGreyWith256Colours(t *testing.T) {
	eachPalette(func(theme Theme, p *palette, background color.Color) {
		minimum := 4.5
		if theme == ThemeContrast {
			minimum = 7
		}
		c := terminalColors{theme: theme, backgroundKnown: true, lightBackground: background == lightTerminal}
		got := c.palette()
		for _, one := range []struct {
			color   color.Color
			minimum float64
		}{{got.muted, minimum}, {got.border, 3}} {
			r, g, b, _ := one.color.RGBA()
			if r != g || g != b {
				t.Errorf("%s: %v is not grey", theme, one.color)
			}
			if got := contrast(one.color, background); got < one.minimum {
				t.Errorf("%s: %v: contrast %.1f, want at least %.1f", theme, one.color, got, one.minimum)
			}
		}
	})
}

// Colours for an unknown background are readable on all common ones, and none is a ground.
func TestUnknownBackgroundHasMiddleTones(t *testing.T) {
	for _, theme := range []Theme{ThemeAuto, ThemeColorblind, ThemeEmber, ThemeFjord} {
		s := NewStyles(nil, theme)
		s.Update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
		p := &s.palette
		if p.text != nil || p.ink != nil || p.grounds != (grounds{}) || p.faint {
			t.Errorf("%s: palette %+v", theme, p)
		}
		for _, fg := range p.texts()[1:] {
			for _, bg := range []color.Color{color.Black, darkTerminal, lightTerminal, color.White} {
				if got := contrast(fg, bg); got < 3.2 {
					t.Errorf("%s: %v on %v: contrast %.1f", theme, fg, bg, got)
				}
				as256 := ansi.Convert256(fg)
				if got := contrast(as256, bg); got < 2.3 {
					t.Errorf("%s: %v, as one of 256 %v, on %v: contrast %.1f", theme, fg, as256, bg, got)
				}
			}
		}
	}
}

func TestBackgroundIsGuessedByCOLORFGBG(t *testing.T) {
	for value, want := range map[string]palette{
		"15;0": darkPalette, "15;default;0": darkPalette, "0;15": lightPalette, "0;7": lightPalette, "15;8": darkPalette,
		"": darkPalette.midtone(), "15;default": darkPalette.midtone(), "15;-1": darkPalette.midtone(),
	} {
		s := NewStyles(nil, ThemeAuto)
		s.GuessBackground(value)
		s.Update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
		want.ink, want.grounds = nil, grounds{}
		if s.palette != want {
			t.Errorf("%q: palette %+v, want %+v", value, s.palette, want)
		}
		s.Update(tea.BackgroundColorMsg{Color: color.White})
		if s.palette != lightPalette {
			t.Errorf("%q: the report of the terminal does not override it", value)
		}
	}
}

// TestContrastNeverLacksColours: bold and bright until the terminal reports its background.
func TestContrastNeverLacksColours(t *testing.T) {
	s := NewStyles(nil, ThemeContrast)
	s.Update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	if s.palette != ansiContrastPalette || !s.Error.GetBold() || s.Error.GetForeground() != lipgloss.BrightRed {
		t.Errorf("palette %+v", s.palette)
	}
	s.Update(tea.BackgroundColorMsg{Color: color.Black})
	if s.palette != darkContrastPalette || s.Error.GetBold() {
		t.Errorf("palette %+v with a known background", s.palette)
	}
}

func TestSwitchOfThemeAtRunTime(t *testing.T) {
	s := NewStyles(nil, ThemeDark)
	s.Update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	query, changed := s.SetTheme(ThemeEmber)
	if query == nil || !changed || s.palette != darkEmberPalette.midtone() {
		t.Error("a theme that depends on the background does not query it, or has no middle tones")
	}
	s.Update(tea.BackgroundColorMsg{Color: color.White})
	if s.palette != lightEmberPalette {
		t.Errorf("palette %+v on white, want %+v", s.palette, lightEmberPalette)
	}
	if query, changed = s.SetTheme(ThemeFjord); query != nil || !changed || s.palette != lightFjordPalette {
		t.Error("the second theme queries a known background again, or has another palette")
	}
	if _, changed = s.SetTheme(ThemeFjord); changed {
		t.Error("the same theme changes the styles")
	}
}
