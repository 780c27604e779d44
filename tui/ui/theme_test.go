package ui

import (
	"image/color"
	"math"
	"testing"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/colorprofile"

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
		ThemeAuto:     ansiPalette,
		ThemeDark:     ansiPalette,
		ThemeLight:    ansiPalette,
		ThemeSixteen:  ansiPalette,
		ThemeContrast: {},
	} {
		styles := NewStyles(nil, theme)
		styles.Update(tea.BackgroundColorMsg{Color: color.Black})
		styles.Update(tea.ColorProfileMsg{Profile: colorprofile.ANSI})
		if styles.palette != want {
			t.Errorf("theme %s: palette %+v, want %+v", theme, styles.palette, want)
		}
	}
}

// WCAG 2.2 requires a contrast of at least 4.5 (1.4.3), or 7 for enhanced contrast (1.4.6). The
// backgrounds are those of common terminal themes, which are seldom pure black or white.
func TestPaletteContrast(t *testing.T) {
	for _, c := range []struct {
		name       string
		palette    palette
		background color.Color
		minimum    float64
	}{
		{"dark", darkPalette, lipgloss.Color("#282c34"), 4.5},
		{"light", lightPalette, lipgloss.Color("#fdf6e3"), 4.5},
		{"contrast on dark", darkContrastPalette, lipgloss.Color("#282c34"), 7},
		{"contrast on light", lightContrastPalette, lipgloss.Color("#fdf6e3"), 7},
	} {
		p := c.palette
		if p.faint {
			t.Errorf("%s: palette has faint text", c.name)
		}
		for _, fg := range []color.Color{p.user, p.agent, p.success, p.failure, p.warning, p.code, p.heading, p.dim} {
			if fg == nil {
				continue
			}
			if p.inverseText != nil && contrast(p.inverseText, fg) < c.minimum {
				t.Errorf("%s: inverse text on %v: contrast %.1f, want at least %.1f",
					c.name, fg, contrast(p.inverseText, fg), c.minimum)
			}
			for _, bg := range []color.Color{c.background, p.added, p.removed} {
				if bg == nil {
					continue
				}
				if got := contrast(fg, bg); got < c.minimum {
					t.Errorf("%s: %v on %v: contrast %.1f, want at least %.1f", c.name, fg, bg, got, c.minimum)
				}
			}
		}
	}
}

// contrast returns the WCAG contrast ratio of two colours, from 1 to 21.
func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance returns the WCAG relative luminance of a colour, from 0 to 1.
func luminance(c color.Color) float64 {
	linear := func(v uint32) float64 {
		f := float64(v) / 0xffff
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	r, g, b, _ := c.RGBA()
	return 0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b)
}

// A span of any style has only colours of its palette.
func TestSpanUsesPaletteColours(t *testing.T) {
	for _, p := range []palette{ansiPalette, darkPalette, lightPalette, darkContrastPalette, lightContrastPalette, {}} {
		allowed := map[color.Color]bool{nil: true, lipgloss.NoColor{}: true}
		for _, c := range []color.Color{
			p.user, p.agent, p.success, p.failure, p.warning, p.code, p.heading, p.dim,
			p.added, p.removed, p.inverseText,
		} {
			allowed[c] = true
		}
		for _, base := range []transcript.Style{
			0, transcript.Added, transcript.Removed, transcript.Faint, transcript.Code,
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
