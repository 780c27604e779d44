package screenshot

import (
	"bufio"
	"fmt"
	"html"
	"image/color"
	"io"
	"slices"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
)

// SVGOptions configure WriteSVG.
type SVGOptions struct {
	Background, Foreground string // colors as #rrggbb
	Title                  string // text alternative of the picture
}

// Dimensions of a picture, in pixels.
const (
	cellWidth  = 8.4
	cellHeight = 18
	margin     = 12
	fontSize   = 14
)

// WriteSVG writes the screen as an SVG.
func (s *Screen) WriteSVG(to io.Writer, p SVGOptions) error {
	w := bufio.NewWriter(to)
	p.begin(w, s)
	for y, row := range s.cells {
		p.row(w, y, row)
	}
	return p.end(w)
}

// begin writes what comes before the lines of a screen, and end what follows them.
func (p *SVGOptions) begin(w io.Writer, s *Screen) {
	width, height := float64(s.Columns)*cellWidth+2*margin, float64(s.Rows)*cellHeight+2*margin
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.1f %.1f" role="img">`+"\n", width, height)
	fmt.Fprintf(w, "<title>%s</title>\n", html.EscapeString(p.Title))
	fmt.Fprintf(w, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", p.Background)
	fmt.Fprintf(
		w,
		`<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" `+
			`font-size="%d" fill="%s">`+"\n",
		fontSize, p.Foreground,
	)
}

func (p *SVGOptions) end(w *bufio.Writer) error {
	fmt.Fprint(w, "</g>\n</svg>\n")
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}

// row draws the cells of row y. A blank cell that shows nothing of its style takes the style of the cell
// before it: a terminal keeps there what it showed earlier.
func (p *SVGOptions) row(w io.Writer, y int, row []uv.Cell) {
	row = slices.Clone(row)
	for x := 1; x < len(row); x++ {
		if isBlank(&row[x]) && !showsBlanks(&row[x-1].Style) {
			row[x].Style = row[x-1].Style
		}
	}
	for x := 0; x < len(row); {
		n, text := run(row[x:])
		p.run(w, x, y, n, text, row[x].Style)
		x += n
	}
}

// isBlank reports whether a cell looks the same in every colour of text.
func isBlank(c *uv.Cell) bool {
	return strings.TrimSpace(c.Content) == "" && c.Width <= 1 && !showsBlanks(&c.Style)
}

// showsBlanks reports whether a blank cell of a style differs from the paper.
func showsBlanks(s *uv.Style) bool {
	return s.Bg != nil || s.Attrs&(uv.AttrReverse|uv.AttrStrikethrough) != 0 || s.Underline != uv.UnderlineNone
}

// run returns the number of leading cells of a row with one style, and their text.
func run(row []uv.Cell) (cells int, text string) {
	var out strings.Builder
	for cells < len(row) && row[cells].Style.Equal(&row[0].Style) {
		c := &row[cells]
		if c.Content == "" {
			out.WriteByte(' ')
		} else {
			out.WriteString(c.Content)
		}
		cells += max(c.Width, 1)
	}
	return cells, out.String()
}

// run draws cells of one style, with a background rectangle if needed.
func (p *SVGOptions) run(w io.Writer, x, y, cells int, text string, style uv.Style) {
	front, back := hex(style.Fg, p.Foreground), hex(style.Bg, p.Background)
	if style.Attrs&uv.AttrReverse != 0 {
		front, back = back, front
	}
	left, top := margin+float64(x)*cellWidth, margin+float64(y)*cellHeight
	if back != p.Background {
		fmt.Fprintf(
			w, `<rect x="%.1f" y="%.1f" width="%.1f" height="%d" fill="%s"/>`+"\n", left, top,
			float64(cells)*cellWidth, cellHeight, back,
		)
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	lead := len(text) - len(strings.TrimLeft(text, " "))
	cells -= lead
	trimmed := strings.TrimRight(text, " ")
	cells -= len(text) - len(trimmed)
	left += float64(lead) * cellWidth
	var attrs strings.Builder
	if front != p.Foreground {
		fmt.Fprintf(&attrs, ` fill="%s"`, front)
	}
	for _, a := range []struct {
		on bool
		as string
	}{
		{style.Attrs&uv.AttrBold != 0, ` font-weight="bold"`},
		{style.Attrs&uv.AttrFaint != 0, ` opacity="0.6"`},
		{style.Attrs&uv.AttrItalic != 0, ` font-style="italic"`},
		{style.Underline != uv.UnderlineNone, ` text-decoration="underline"`},
	} {
		if a.on {
			attrs.WriteString(a.as)
		}
	}
	fmt.Fprintf(
		w, `<text x="%.1f" y="%.1f" textLength="%.1f" lengthAdjust="spacingAndGlyphs"%s>%s</text>`+"\n", left,
		top+cellHeight*0.75, float64(cells)*cellWidth, attrs.String(),
		html.EscapeString(strings.ReplaceAll(trimmed[lead:], " ", "\u00a0")),
	) // plain spaces would collapse
}

func hex(c color.Color, none string) string {
	if c == nil {
		return none
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
