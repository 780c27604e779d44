package ui

import (
	"image/color"
	"math"

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

// frameColors are the colours of parts of the screen and of speakers.
type frameColors struct{ accent, border, user, agent color.Color }

// stateColors are the colours of states. A glyph and a word always come with them.
type stateColors struct{ success, failure, warning, busy color.Color }

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
	for _, c := range []*color.Color{
		&p.muted, &p.heading, &p.code, &p.accent, &p.border, &p.user, &p.agent, &p.success, &p.failure, &p.warning,
		&p.busy, &p.red, &p.green, &p.yellow, &p.blue, &p.magenta, &p.cyan,
	} {
		const gamma = 2.2
		r, g, b, _ := (*c).RGBA()
		linear := func(v uint32) float64 { return math.Pow(float64(v)/math.MaxUint16, gamma) }
		scale := midLuminance / (0.2126*linear(r) + 0.7152*linear(g) + 0.0722*linear(b))
		scaled := func(v uint32) uint8 { return uint8(math.MaxUint8 * math.Pow(min(1, scale*linear(v)), 1/gamma)) }
		*c = color.RGBA{scaled(r), scaled(g), scaled(b), math.MaxUint8}
	}
	return p
}

// rgb returns the colour written as #rrggbb.
func rgb(hex string) color.Color { return lipgloss.Color(hex) }

var (
	ansiPalette = palette{
		textColors:  textColors{heading: lipgloss.Magenta, code: lipgloss.Cyan},
		frameColors: frameColors{accent: lipgloss.Cyan, user: lipgloss.Cyan, agent: lipgloss.Green},
		stateColors: stateColors{
			success: lipgloss.Green, failure: lipgloss.Red, warning: lipgloss.Yellow, busy: lipgloss.Cyan,
		},
		hueColors: hueColors{
			red: lipgloss.Red, green: lipgloss.Green, yellow: lipgloss.Yellow,
			blue: lipgloss.Blue, magenta: lipgloss.Magenta, cyan: lipgloss.Cyan,
		},
		faint: true,
	}
	ansiColorblindPalette = palette{
		textColors:  ansiPalette.textColors,
		frameColors: ansiPalette.frameColors,
		stateColors: stateColors{
			success: lipgloss.BrightBlue, failure: lipgloss.Red, warning: lipgloss.BrightYellow, busy: lipgloss.Cyan,
		},
		hueColors: ansiPalette.hueColors,
		faint:     true,
	}
	ansiContrastPalette = palette{
		textColors:  textColors{heading: lipgloss.BrightMagenta, code: lipgloss.BrightCyan},
		frameColors: frameColors{accent: lipgloss.BrightCyan, user: lipgloss.BrightCyan, agent: lipgloss.BrightGreen},
		stateColors: stateColors{
			success: lipgloss.BrightGreen, failure: lipgloss.BrightRed, warning: lipgloss.BrightYellow,
			busy: lipgloss.BrightCyan,
		},
		hueColors: hueColors{
			red: lipgloss.BrightRed, green: lipgloss.BrightGreen, yellow: lipgloss.BrightYellow,
			blue: lipgloss.BrightBlue, magenta: lipgloss.BrightMagenta, cyan: lipgloss.BrightCyan,
		},
		bold: true,
	}
	darkPalette = palette{
		textColors: textColors{
			text: rgb("#e5e8f0"), muted: rgb("#999da8"), ink: rgb("#000000"), heading: rgb("#d0aafc"),
			code: rgb("#44d6d6"),
		},
		frameColors: frameColors{
			accent: rgb("#b6b4fe"), border: rgb("#6f7483"), user: rgb("#89c3fe"), agent: rgb("#83d494"),
		},
		stateColors: stateColors{
			success: rgb("#86d391"), failure: rgb("#ffa098"), warning: rgb("#e1b75c"), busy: rgb("#4cd1ee"),
		},
		hueColors: hueColors{
			red: rgb("#ffa098"), green: rgb("#86d391"), yellow: rgb("#e1b75c"), blue: rgb("#89c3fe"),
			magenta: rgb("#d0aafc"), cyan: rgb("#43d5dc"),
		},
		grounds: grounds{
			element: rgb("#323243"), block: rgb("#25272e"), added: rgb("#1c3723"), removed: rgb("#491f20"),
			addedWord: rgb("#3a6342"), removedWord: rgb("#7c4342"),
		},
	}
	lightPalette = palette{
		textColors: textColors{
			text: rgb("#282622"), muted: rgb("#636059"), ink: rgb("#ffffff"), heading: rgb("#7241a0"),
			code: rgb("#086b6c"),
		},
		frameColors: frameColors{
			accent: rgb("#584cad"), border: rgb("#928e83"), user: rgb("#0060a6"), agent: rgb("#006f30"),
		},
		stateColors: stateColors{
			success: rgb("#04702b"), failure: rgb("#a12f2f"), warning: rgb("#775801"), busy: rgb("#03697b"),
		},
		hueColors: hueColors{
			red: rgb("#a12f2f"), green: rgb("#04702b"), yellow: rgb("#775801"), blue: rgb("#0060a6"),
			magenta: rgb("#7241a0"), cyan: rgb("#076b6f"),
		},
		grounds: grounds{
			element: rgb("#dcdceb"), block: rgb("#efede7"), added: rgb("#d3f4d8"), removed: rgb("#ffdddc"),
			addedWord: rgb("#a5d7b2"), removedWord: rgb("#eab7b6"),
		},
	}
	darkContrastPalette = palette{
		textColors: textColors{
			text: rgb("#e7e8eb"), muted: rgb("#b8babe"), ink: rgb("#000000"), heading: rgb("#e2ccfe"),
			code: rgb("#53f2f2"),
		},
		frameColors: frameColors{
			accent: rgb("#d3d3fe"), border: rgb("#919398"), user: rgb("#badbfe"), agent: rgb("#96f0aa"),
		},
		stateColors: stateColors{
			success: rgb("#9aefa6"), failure: rgb("#fec8c3"), warning: rgb("#ffd16b"), busy: rgb("#8ae8fe"),
		},
		hueColors: hueColors{
			red: rgb("#fec8c3"), green: rgb("#9aefa6"), yellow: rgb("#ffd16b"), blue: rgb("#badbfe"),
			magenta: rgb("#e2ccfe"), cyan: rgb("#52f1f9"),
		},
		grounds: grounds{
			element: rgb("#2b2a45"), block: rgb("#1e1f21"), added: rgb("#122d19"), removed: rgb("#411719"),
			addedWord: rgb("#2c5234"), removedWord: rgb("#6b3e3e"),
		},
	}
	lightContrastPalette = palette{
		textColors: textColors{
			text: rgb("#272624"), muted: rgb("#474643"), ink: rgb("#ffffff"), heading: rgb("#52187e"),
			code: rgb("#034747"),
		},
		frameColors: frameColors{
			accent: rgb("#3a248b"), border: rgb("#73716c"), user: rgb("#003e70"), agent: rgb("#024b1f"),
		},
		stateColors: stateColors{
			success: rgb("#004b19"), failure: rgb("#78000e"), warning: rgb("#4f3900"), busy: rgb("#044551"),
		},
		hueColors: hueColors{
			red: rgb("#78000e"), green: rgb("#004b19"), yellow: rgb("#4f3900"), blue: rgb("#003e70"),
			magenta: rgb("#52187e"), cyan: rgb("#034649"),
		},
		grounds: grounds{
			element: rgb("#dedff6"), block: rgb("#efeeeb"), added: rgb("#d6f7dc"), removed: rgb("#ffe4e3"),
			addedWord: rgb("#a7d1b1"), removedWord: rgb("#e1b2b4"),
		},
	}
	darkColorblindPalette = palette{
		textColors: textColors{
			text: rgb("#e3e8f0"), muted: rgb("#979ea8"), ink: rgb("#000000"), heading: rgb("#b08ed7"),
			code: rgb("#24aeae"),
		},
		frameColors: frameColors{
			accent: rgb("#9996e1"), border: rgb("#6c7583"), user: rgb("#6ba1d8"), agent: rgb("#6da7a6"),
		},
		stateColors: stateColors{
			success: rgb("#59a2ea"), failure: rgb("#f67a3b"), warning: rgb("#ffea6b"), busy: rgb("#6fa5b2"),
		},
		hueColors: hueColors{
			red: rgb("#f67a3b"), green: rgb("#71a2d3"), yellow: rgb("#a99f63"), blue: rgb("#65a1de"),
			magenta: rgb("#a991d5"), cyan: rgb("#ba8fc4"),
		},
		grounds: grounds{
			element: rgb("#323243"), block: rgb("#24282e"), added: rgb("#1c3249"), removed: rgb("#462408"),
			addedWord: rgb("#2d5176"), removedWord: rgb("#773c16"),
		},
	}
	lightColorblindPalette = palette{
		textColors: textColors{
			text: rgb("#252729"), muted: rgb("#5e6165"), ink: rgb("#ffffff"), heading: rgb("#735296"),
			code: rgb("#016c6c"),
		},
		frameColors: frameColors{
			accent: rgb("#5d589e"), border: rgb("#8b8f97"), user: rgb("#2f6397"), agent: rgb("#2f6969"),
		},
		stateColors: stateColors{
			success: rgb("#1263a6"), failure: rgb("#a44201"), warning: rgb("#47300c"), busy: rgb("#336875"),
		},
		hueColors: hueColors{
			red: rgb("#a44201"), green: rgb("#356391"), yellow: rgb("#6b6126"), blue: rgb("#27639c"),
			magenta: rgb("#6d5594"), cyan: rgb("#7a5284"),
		},
		grounds: grounds{
			element: rgb("#dddde8"), block: rgb("#eaedf1"), added: rgb("#daecff"), removed: rgb("#fce0ce"),
			addedWord: rgb("#aeceeb"), removedWord: rgb("#e9bda1"),
		},
	}
	darkEmberPalette = palette{
		textColors: textColors{
			text: rgb("#f1e5dc"), muted: rgb("#a99a8e"), ink: rgb("#000000"), heading: rgb("#f4ac6f"),
			code: rgb("#e9b364"),
		},
		frameColors: frameColors{
			accent: rgb("#f9a779"), border: rgb("#867161"), user: rgb("#e5b562"), agent: rgb("#fca67f"),
		},
		stateColors: stateColors{
			success: rgb("#a8cc7a"), failure: rgb("#fea09f"), warning: rgb("#d5bd62"), busy: rgb("#f1ae6b"),
		},
		hueColors: hueColors{
			red: rgb("#fea09f"), green: rgb("#bbc76d"), yellow: rgb("#e2b487"), blue: rgb("#e0b861"),
			magenta: rgb("#fda485"), cyan: rgb("#fea199"),
		},
		grounds: grounds{
			element: rgb("#472d1f"), block: rgb("#2e261f"), added: rgb("#2a3517"), removed: rgb("#491f20"),
			addedWord: rgb("#4d5f33"), removedWord: rgb("#7c4344"),
		},
	}
	lightEmberPalette = palette{
		textColors: textColors{
			text: rgb("#2e2519"), muted: rgb("#6c5e4a"), ink: rgb("#ffffff"), heading: rgb("#8a4b01"),
			code: rgb("#7e5403"),
		},
		frameColors: frameColors{
			accent: rgb("#91450d"), border: rgb("#a18b6d"), user: rgb("#7a5604"), agent: rgb("#934319"),
		},
		stateColors: stateColors{
			success: rgb("#4a690c"), failure: rgb("#953c41"), warning: rgb("#6f5c01"), busy: rgb("#864f04"),
		},
		hueColors: hueColors{
			red: rgb("#953c41"), green: rgb("#5c6402"), yellow: rgb("#7d5329"), blue: rgb("#775801"),
			magenta: rgb("#944123"), cyan: rgb("#963d3a"),
		},
		grounds: grounds{
			element: rgb("#fed4bd"), block: rgb("#f7ebdb"), added: rgb("#e2f0cc"), removed: rgb("#ffdddc"),
			addedWord: rgb("#c1d2a2"), removedWord: rgb("#e8baba"),
		},
	}
	darkFjordPalette = palette{
		textColors: textColors{
			text: rgb("#daebf4"), muted: rgb("#8ca2ae"), ink: rgb("#000000"), heading: rgb("#97c4fe"),
			code: rgb("#6ad6cf"),
		},
		frameColors: frameColors{
			accent: rgb("#74cff2"), border: rgb("#597988"), user: rgb("#7dccf8"), agent: rgb("#70d6c3"),
		},
		stateColors: stateColors{
			success: rgb("#85d5ab"), failure: rgb("#f8a6b8"), warning: rgb("#dfbc73"), busy: rgb("#6ad3e5"),
		},
		hueColors: hueColors{
			red: rgb("#f8a6b8"), green: rgb("#7ad6b7"), yellow: rgb("#d9bd85"), blue: rgb("#78cdf5"),
			magenta: rgb("#afbdfe"), cyan: rgb("#d5aff2"),
		},
		grounds: grounds{
			element: rgb("#0b3a49"), block: rgb("#1c2a30"), added: rgb("#10382c"), removed: rgb("#481e29"),
			addedWord: rgb("#316450"), removedWord: rgb("#794451"),
		},
	}
	lightFjordPalette = palette{
		textColors: textColors{
			text: rgb("#20282b"), muted: rgb("#576368"), ink: rgb("#ffffff"), heading: rgb("#285994"),
			code: rgb("#056662"),
		},
		frameColors: frameColors{
			accent: rgb("#04617c"), border: rgb("#7f9199"), user: rgb("#055f86"), agent: rgb("#05675a"),
		},
		stateColors: stateColors{
			success: rgb("#006943"), failure: rgb("#893a50"), warning: rgb("#705301"), busy: rgb("#066370"),
		},
		hueColors: hueColors{
			red: rgb("#893a50"), green: rgb("#046850"), yellow: rgb("#6c541b"), blue: rgb("#056180"),
			magenta: rgb("#475195"), cyan: rgb("#6b4485"),
		},
		grounds: grounds{
			element: rgb("#cae3ed"), block: rgb("#e5eff3"), added: rgb("#caf5e4"), removed: rgb("#fedce3"),
			addedWord: rgb("#9ed6c1"), removedWord: rgb("#e4b8c3"),
		},
	}
)
