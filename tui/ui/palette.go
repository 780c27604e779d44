package ui

import (
	"image/color"
	"math"
	"strings"

	"charm.land/lipgloss/v2"
)

// palette holds the colours of a theme. nil is the terminal's default colour. The background of the
// terminal is never painted.
type palette struct {
	textColors
	frameColors
	stateColors
	hueColors
	grounds

	faint bool // lines, and faint text of programs, are faint instead of coloured
	bold  bool // states are bold
}

// textColors are the colours of text by importance. ink is text on any other colour; nil: reverse
// video.
type textColors struct{ text, muted, ink, heading, code color.Color }

// frameColors are the colours of lines, and the one accent: the part with the focus, the user's
// messages, and what runs.
type frameColors struct{ accent, border color.Color }

// stateColors are the colours of states. A glyph and a word always come with them.
type stateColors struct{ success, failure, warning color.Color }

// hueColors are the colours of code and of the output of programs. In code green is a string, yellow a
// type, blue a function, magenta a keyword and cyan a number.
type hueColors struct{ red, green, yellow, blue, magenta, cyan color.Color }

// grounds are backgrounds: of the selected element, of a block of code or a table, of the lines of
// a diff, and of the words that differ in them. nil: none.
type grounds struct{ element, block, added, removed, addedWord, removedWord color.Color }

// midLuminance is a luminance that contrasts with dark and light backgrounds alike, about 4 to 1.
const midLuminance = 0.2

// midtone returns a palette for an unknown background: text has the terminal's default colour, all
// else its hue of the palette in a luminance between dark and light.
func (p palette) midtone() palette {
	p.text, p.ink, p.grounds = nil, nil, grounds{}
	for _, c := range p.colors() {
		if *c == nil {
			continue
		}
		const gamma = 2.2
		r, g, b, _ := (*c).RGBA()
		linear := func(v uint32) float64 { return math.Pow(float64(v)/math.MaxUint16, gamma) }
		scale := midLuminance / (0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b))
		scaled := func(v uint32) uint8 { return uint8(math.MaxUint8 * math.Pow(min(1, scale*linear(v)), 1/gamma)) }
		*c = color.RGBA{scaled(r), scaled(g), scaled(b), math.MaxUint8}
	}
	return p
}

// rgbPalette returns a palette of colours written as rrggbb: all fields of a palette in their order.
func rgbPalette(colors string) (p palette) {
	hex := strings.Fields(colors)
	for i, c := range p.colors() {
		*c = lipgloss.Color("#" + hex[i])
	}
	return p
}

// colors returns the fields of the palette.
func (p *palette) colors() []*color.Color {
	return []*color.Color{
		&p.text, &p.muted, &p.ink, &p.heading, &p.code, &p.accent, &p.border,
		&p.success, &p.failure, &p.warning, &p.red, &p.green, &p.yellow, &p.blue, &p.magenta, &p.cyan,
		&p.element, &p.block, &p.added, &p.removed, &p.addedWord, &p.removedWord,
	}
}

var (
	ansiPalette = palette{
		textColors:  textColors{heading: lipgloss.Magenta, code: lipgloss.Cyan},
		frameColors: frameColors{accent: lipgloss.Cyan},
		stateColors: stateColors{success: lipgloss.Green, failure: lipgloss.Red, warning: lipgloss.Yellow},
		hueColors: hueColors{
			red: lipgloss.Red, green: lipgloss.Green, yellow: lipgloss.Yellow,
			blue: lipgloss.Blue, magenta: lipgloss.Magenta, cyan: lipgloss.Cyan,
		},
		faint: true,
	}
	ansiColorblindPalette = palette{
		textColors:  ansiPalette.textColors,
		frameColors: ansiPalette.frameColors,
		stateColors: stateColors{success: lipgloss.BrightBlue, failure: lipgloss.Red, warning: lipgloss.BrightYellow},
		hueColors:   ansiPalette.hueColors,
		faint:       true,
	}
	ansiContrastPalette = palette{
		textColors:  textColors{heading: lipgloss.BrightMagenta, code: lipgloss.BrightCyan},
		frameColors: frameColors{accent: lipgloss.BrightCyan},
		stateColors: stateColors{
			success: lipgloss.BrightGreen, failure: lipgloss.BrightRed, warning: lipgloss.BrightYellow,
		},
		hueColors: hueColors{
			red: lipgloss.BrightRed, green: lipgloss.BrightGreen, yellow: lipgloss.BrightYellow,
			blue: lipgloss.BrightBlue, magenta: lipgloss.BrightMagenta, cyan: lipgloss.BrightCyan,
		},
		bold: true,
	}
	darkPalette = rgbPalette(`
		e5e8f0 999da8 000000 d0aafc 44d6d6 b6b4fe 6f7483 86d391 ffa098 e1b75c
		ffa098 86d391 e1b75c 89c3fe d0aafc 43d5dc 323243 25272e 1c3723 491f20 3a6342 7c4342`)
	lightPalette = rgbPalette(`
		282622 636059 ffffff 7241a0 086b6c 584cad 928e83 04702b a12f2f 775801
		a12f2f 04702b 775801 0060a6 7241a0 076b6f dcdceb efede7 d3f4d8 ffdddc a5d7b2 eab7b6`)
	darkContrastPalette = rgbPalette(`
		e7e8eb b8babe 000000 e2ccfe 53f2f2 d3d3fe 919398 9aefa6 fec8c3 ffd16b
		fec8c3 9aefa6 ffd16b badbfe e2ccfe 52f1f9 2b2a45 1e1f21 122d19 411719 2c5234 6b3e3e`)
	lightContrastPalette = rgbPalette(`
		272624 474643 ffffff 52187e 034747 3a248b 73716c 004b19 78000e 4f3900
		78000e 004b19 4f3900 003e70 52187e 034649 dedff6 efeeeb d6f7dc ffe4e3 a7d1b1 e1b2b4`)
	darkColorblindPalette = rgbPalette(`
		e3e8f0 979ea8 000000 b08ed7 24aeae 9996e1 6c7583 59a2ea f67a3b ffea6b
		f67a3b 71a2d3 a99f63 65a1de a991d5 ba8fc4 323243 24282e 1c3249 462408 2d5176 773c16`)
	lightColorblindPalette = rgbPalette(`
		252729 5e6165 ffffff 735296 016c6c 5d589e 8b8f97 1263a6 a44201 47300c
		a44201 356391 6b6126 27639c 6d5594 7a5284 dddde8 eaedf1 daecff fce0ce aeceeb e9bda1`)
	darkEmberPalette = rgbPalette(`
		f1e5dc a99a8e 000000 f4ac6f e9b364 f9a779 867161 a8cc7a fea09f d5bd62
		fea09f bbc76d e2b487 e0b861 fda485 fea199 472d1f 2e261f 2a3517 491f20 4d5f33 7c4344`)
	lightEmberPalette = rgbPalette(`
		2e2519 6c5e4a ffffff 8a4b01 7e5403 91450d a18b6d 4a690c 953c41 6f5c01
		953c41 5c6402 7d5329 775801 944123 963d3a fed4bd f7ebdb e2f0cc ffdddc c1d2a2 e8baba`)
	darkFjordPalette = rgbPalette(`
		daebf4 8ca2ae 000000 97c4fe 6ad6cf 74cff2 597988 85d5ab f8a6b8 dfbc73
		f8a6b8 7ad6b7 d9bd85 78cdf5 afbdfe d5aff2 0b3a49 1c2a30 10382c 481e29 316450 794451`)
	lightFjordPalette = rgbPalette(`
		20282b 576368 ffffff 285994 056662 04617c 7f9199 006943 893a50 705301
		893a50 046850 6c541b 056180 475195 6b4485 cae3ed e5eff3 caf5e4 fedce3 9ed6c1 e4b8c3`)
)
