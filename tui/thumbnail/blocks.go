package thumbnail

import (
	"image"
	"image/color"
	"strconv"
	"strings"
)

// blockLines draws an image in half blocks: cells of two pixels, one above the other, in their
// colours. Transparent pixels keep the background of the terminal.
func blockLines(m *image.NRGBA) []string {
	lines := make([]string, m.Rect.Dy()/2)
	for row := range lines {
		var out strings.Builder
		last := blockStyle{}
		for x := range m.Rect.Dx() {
			upper, lower := m.NRGBAAt(x, 2*row), m.NRGBAAt(x, 2*row+1)
			glyph, style := block(upper, lower)
			if style != last {
				style.write(&out)
				last = style
			}
			out.WriteString(glyph)
		}
		if last != (blockStyle{}) {
			out.WriteString("\x1b[m")
		}
		lines[row] = out.String()
	}
	return lines
}

// blockStyle are the colours of a cell. Those with alpha 0 are the terminal's own.
type blockStyle struct{ foreground, background color.NRGBA }

// write writes the SGR sequence of a style.
func (s blockStyle) write(out *strings.Builder) {
	out.WriteString("\x1b[0")
	for i, c := range []color.NRGBA{s.foreground, s.background} {
		if c.A == 0 {
			continue
		}
		out.WriteString(";" + strconv.Itoa(38+10*i) + ";2")
		for _, part := range []uint8{c.R, c.G, c.B} {
			out.WriteString(";" + strconv.Itoa(int(part)))
		}
	}
	out.WriteByte('m')
}

// block returns the glyph of a cell and its colours.
func block(upper, lower color.NRGBA) (string, blockStyle) {
	upper, lower = opaque(upper), opaque(lower)
	switch {
	case upper.A == 0 && lower.A == 0:
		return " ", blockStyle{}
	case upper.A == 0:
		return "▄", blockStyle{foreground: lower}
	}
	return "▀", blockStyle{foreground: upper, background: lower}
}

// opaque returns a colour without alpha, or the zero colour if most of it is transparent.
func opaque(c color.NRGBA) color.NRGBA {
	if c.A < 0x80 {
		return color.NRGBA{}
	}
	c.A = 0xff
	return c
}
