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

func TestAThemeThatIsNamedStays(t *testing.T) {
	for theme, want := range map[Theme]palette{ThemeDark: onDark, ThemeLight: onLight, ThemeSixteen: sixteen} {
		l := NewStyles(nil, theme)
		l.Update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
		if l.Query() != nil {
			t.Errorf("%s asks for the background", theme)
		}
		if l.Update(tea.BackgroundColorMsg{Color: color.White}) || l.Update(tea.BackgroundColorMsg{Color: color.Black}) || l.palette != want {
			t.Errorf("%s follows the background", theme)
		}
	}
	if NewStyles(nil, "").Query() == nil || NewStyles(nil, ThemeContrast).Query() == nil {
		t.Error("the background is not asked for")
	}
}

func TestATerminalOfSixteenColoursKeepsItsOwn(t *testing.T) {
	for theme, want := range map[Theme]palette{ThemeAuto: sixteen, ThemeDark: sixteen, ThemeLight: sixteen, ThemeSixteen: sixteen, ThemeContrast: {}} {
		l := NewStyles(nil, theme)
		l.Update(tea.BackgroundColorMsg{Color: color.Black})
		l.Update(tea.ColorProfileMsg{Profile: colorprofile.ANSI})
		if l.palette != want {
			t.Errorf("%s wears %+v", theme, l.palette)
		}
	}
}

// Text is legible at a contrast of 4.5, and by the stricter measure at 7
// (WCAG 2.2, 1.4.3 and 1.4.6). Backgrounds are seldom quite black or white.
func TestEveryColourIsLegible(t *testing.T) {
	for _, c := range []struct {
		name       string
		palette    palette
		background color.Color
		least      float64
	}{
		{"dark", onDark, lipgloss.Color("#282c34"), 4.5},
		{"light", onLight, lipgloss.Color("#fdf6e3"), 4.5},
		{"contrast on dark", contrastDark, lipgloss.Color("#282c34"), 7},
		{"contrast on light", contrastLight, lipgloss.Color("#fdf6e3"), 7},
	} {
		p := c.palette
		if p.faint {
			t.Errorf("%s has faint text", c.name)
		}
		for _, fore := range []color.Color{p.user, p.agent, p.good, p.bad, p.warn, p.code, p.heading, p.dim} {
			if fore == nil {
				continue
			}
			if p.ink != nil && contrast(p.ink, fore) < c.least {
				t.Errorf("%s: what is written on %v has a contrast of %.1f", c.name, fore, contrast(p.ink, fore))
			}
			for _, behind := range []color.Color{c.background, p.added, p.removed} {
				if behind == nil {
					continue
				}
				if got := contrast(fore, behind); got < c.least {
					t.Errorf("%s: %v before %v has a contrast of %.1f, want %.1f", c.name, fore, behind, got, c.least)
				}
			}
		}
	}
}

func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

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

// Whatever a style is made of, a theme dresses it in its own colours only.
func TestEveryHueIsOfTheTheme(t *testing.T) {
	for _, p := range []palette{sixteen, onDark, onLight, contrastDark, contrastLight, {}} {
		own := map[color.Color]bool{nil: true, lipgloss.NoColor{}: true}
		for _, c := range []color.Color{p.user, p.agent, p.good, p.bad, p.warn, p.code, p.heading, p.dim, p.added, p.removed, p.ink} {
			own[c] = true
		}
		for _, base := range []transcript.Style{0, transcript.Added, transcript.Removed, transcript.Faint, transcript.Code, transcript.Changed | transcript.Added, transcript.Heading} {
			for _, hue := range []transcript.Style{0, transcript.Red, transcript.Green, transcript.Yellow, transcript.Blue, transcript.Magenta, transcript.Cyan} {
				s := p.span(base | hue)
				if !own[s.GetForeground()] || !own[s.GetBackground()] {
					t.Errorf("style %x wears %v over %v", base|hue, s.GetForeground(), s.GetBackground())
				}
			}
		}
	}
}

func TestOnlyATerminalOfAllColoursHasThemBehindChanges(t *testing.T) {
	l := NewStyles(nil, ThemeDark)
	if l.palette.added != nil {
		t.Error("changes have a background before the terminal told its colours")
	}
	l.Update(tea.ColorProfileMsg{Profile: colorprofile.TrueColor})
	if l.palette != onDark {
		t.Errorf("with all colours the palette is %+v", l.palette)
	}
	l.Update(tea.ColorProfileMsg{Profile: colorprofile.ANSI256})
	if l.palette.added != nil || l.palette.good != onDark.good {
		t.Errorf("with 256 colours the palette is %+v", l.palette)
	}
}
