package transcript

import (
	"strconv"
	"strings"
)

// sgrState is the current graphic rendition of a terminal, as set by SGR sequences.
type sgrState struct {
	attributes             Style
	foreground, background Style // hues
	backgroundVisible      bool  // the background is light or has a hue
}

// style maps the state to a Style. A visible background becomes reversed text in its hue, so that a
// program cannot hide text by giving it the colour of its background.
func (s sgrState) style() Style {
	if s.backgroundVisible {
		return s.attributes&^Faint | Reverse | s.background
	}
	return s.attributes | s.foreground
}

// basicHues are the hues of the eight basic colours. Black and white have none.
var basicHues = [8]Style{0, Red, Green, Yellow, Blue, Magenta, Cyan, 0}

// apply applies the parameters of an SGR sequence.
func (s *sgrState) apply(params string) {
	fields := strings.FieldsFunc(params, func(r rune) bool { return r == ';' || r == ':' })
	if params == "" || params[0] == ';' {
		*s = sgrState{}
	}
	for len(fields) > 0 {
		n, err := strconv.Atoi(fields[0])
		fields = fields[1:]
		if err != nil {
			return
		}
		switch {
		case n == 0:
			*s = sgrState{}
		case n >= 30 && n <= 37:
			s.setForeground(basicHues[n-30], false)
		case n >= 90 && n <= 97:
			s.setForeground(basicHues[n-90], n == 90)
		case n == 39:
			s.setForeground(0, false)
		case n >= 40 && n <= 47:
			s.setBackground(basicHues[n-40], n == 47)
		case n >= 100 && n <= 107:
			s.setBackground(basicHues[n-100], n == 107)
		case n == 49:
			s.setBackground(0, false)
		case n == 38 || n == 48:
			hue, light, used := parseColour(fields)
			fields = fields[used:]
			if n == 38 {
				s.setForeground(hue, hue == 0 && light < 0.7 && light > 0.2)
			} else {
				s.setBackground(hue, light > 0.7)
			}
		default:
			s.setAttribute(n)
		}
	}
}

// setForeground sets the hue of the text, or Faint for a grey one.
func (s *sgrState) setForeground(hue Style, grey bool) {
	s.foreground = hue
	if grey {
		s.foreground = Faint
	}
}

func (s *sgrState) setBackground(hue Style, light bool) {
	s.background, s.backgroundVisible = hue, hue != 0 || light
}

// setAttribute turns an attribute on or off. It ignores blinking and hidden text.
func (s *sgrState) setAttribute(n int) {
	switch n {
	case 1:
		s.attributes |= Strong
	case 2:
		s.attributes |= Faint
	case 3:
		s.attributes |= Emphasis
	case 4, 21:
		s.attributes |= Underline
	case 7:
		s.attributes |= Reverse
	case 9:
		s.attributes |= Strikethrough
	case 22:
		s.attributes &^= Strong | Faint
	case 23:
		s.attributes &^= Emphasis
	case 24:
		s.attributes &^= Underline
	case 27:
		s.attributes &^= Reverse
	case 29:
		s.attributes &^= Strikethrough
	}
}

// parseColour parses the fields after 38 or 48. It returns the colour's hue, its lightness from 0
// to 1, and the number of fields used.
func parseColour(fields []string) (hue Style, light float64, used int) {
	number := func(i int) int {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			return 0
		}
		return min(max(n, 0), 255)
	}
	switch {
	case len(fields) >= 2 && fields[0] == "5":
		hue, light = paletteHue(number(1))
		return hue, light, 2
	case len(fields) >= 4 && fields[0] == "2":
		hue, light = rgbHue(number(1), number(2), number(3))
		return hue, light, 4
	}
	return 0, 0, len(fields)
}

// paletteHue returns the hue and lightness of a colour of the 256-colour palette.
func paletteHue(n int) (hue Style, light float64) {
	switch {
	case n < 8:
		return basicHues[n], []float64{0, 1}[n/7]
	case n < 16:
		return basicHues[n-8], []float64{0.5, 1}[(n-8)/7]
	case n < 232:
		n -= 16
		level := [6]int{0, 95, 135, 175, 215, 255}
		return rgbHue(level[n/36], level[n/6%6], level[n%6])
	}
	return 0, float64(8+10*(n-232)) / 255
}

// rgbHue returns the nearest hue of a colour and its lightness. Greys and near-blacks have no hue.
func rgbHue(r, g, b int) (hue Style, light float64) {
	high, low := max(r, g, b), min(r, g, b)
	light = float64(high) / 255
	if high < 48 || (high-low)*4 < high {
		return 0, light
	}
	span := float64(high - low)
	var degree float64
	switch high {
	case r:
		degree = 60 * float64(g-b) / span
	case g:
		degree = 120 + 60*float64(b-r)/span
	default:
		degree = 240 + 60*float64(r-g)/span
	}
	switch {
	case degree < 25:
		if degree < -40 {
			return Magenta, light
		}
		return Red, light
	case degree < 75:
		return Yellow, light
	case degree < 160:
		return Green, light
	case degree < 200:
		return Cyan, light
	case degree < 260:
		return Blue, light
	}
	return Magenta, light
}
