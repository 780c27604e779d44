package transcript

import (
	"strconv"
	"strings"
)

// pen is how a program asked its next words to look.
type pen struct {
	attributes Style
	fore, back Style // hues
	lit        bool  // the background is light or of a hue, so that it is one to be seen
}

// style is the pen in the theme's terms. A background becomes reversed text of
// its hue, so that nothing can be written in the colour of what is behind it.
func (p pen) style() Style {
	if p.lit {
		return p.attributes&^Faint | Reverse | p.back
	}
	return p.attributes | p.fore
}

// basic are the hues of the eight colours; black and white are none.
var basic = [8]Style{0, Red, Green, Yellow, Blue, Magenta, Cyan, 0}

// dress takes the parameters of one SGR sequence.
func (p *pen) dress(params string) {
	fields := strings.FieldsFunc(params, func(r rune) bool { return r == ';' || r == ':' })
	if params == "" || params[0] == ';' {
		*p = pen{}
	}
	for len(fields) > 0 {
		n, err := strconv.Atoi(fields[0])
		fields = fields[1:]
		if err != nil {
			return
		}
		switch {
		case n == 0:
			*p = pen{}
		case n >= 30 && n <= 37:
			p.front(basic[n-30], false)
		case n >= 90 && n <= 97:
			p.front(basic[n-90], n == 90)
		case n == 39:
			p.front(0, false)
		case n >= 40 && n <= 47:
			p.behind(basic[n-40], n == 47)
		case n >= 100 && n <= 107:
			p.behind(basic[n-100], n == 107)
		case n == 49:
			p.behind(0, false)
		case n == 38 || n == 48:
			hue, light, used := colour(fields)
			fields = fields[used:]
			if n == 38 {
				p.front(hue, hue == 0 && light < 0.7 && light > 0.2)
			} else {
				p.behind(hue, light > 0.7)
			}
		default:
			p.attribute(n)
		}
	}
}

// grey is a foreground between black and white.
const grey = Faint

func (p *pen) front(hue Style, faint bool) {
	p.fore = hue
	if faint {
		p.fore = grey
	}
}

func (p *pen) behind(hue Style, light bool) { p.back, p.lit = hue, hue != 0 || light }

// attribute turns one on or off. What blinks or hides does not.
func (p *pen) attribute(n int) {
	switch n {
	case 1:
		p.attributes |= Strong
	case 2:
		p.attributes |= Faint
	case 3:
		p.attributes |= Emphasis
	case 4, 21:
		p.attributes |= Underline
	case 7:
		p.attributes |= Reverse
	case 9:
		p.attributes |= Strikethrough
	case 22:
		p.attributes &^= Strong | Faint
	case 23:
		p.attributes &^= Emphasis
	case 24:
		p.attributes &^= Underline
	case 27:
		p.attributes &^= Reverse
	case 29:
		p.attributes &^= Strikethrough
	}
}

// colour reads what follows 38 or 48: its hue, how light it is, and how many
// fields it took.
func colour(fields []string) (hue Style, light float64, used int) {
	number := func(i int) int {
		n, err := strconv.Atoi(fields[i])
		if err != nil {
			return 0
		}
		return min(max(n, 0), 255)
	}
	switch {
	case len(fields) >= 2 && fields[0] == "5":
		hue, light = indexed(number(1))
		return hue, light, 2
	case len(fields) >= 4 && fields[0] == "2":
		hue, light = nearest(number(1), number(2), number(3))
		return hue, light, 4
	}
	return 0, 0, len(fields)
}

// indexed is a colour of the table of 256.
func indexed(n int) (hue Style, light float64) {
	switch {
	case n < 8:
		return basic[n], []float64{0, 1}[n/7]
	case n < 16:
		return basic[n-8], []float64{0.5, 1}[(n-8)/7]
	case n < 232:
		n -= 16
		level := [6]int{0, 95, 135, 175, 215, 255}
		return nearest(level[n/36], level[n/6%6], level[n%6])
	}
	return 0, float64(8+10*(n-232)) / 255
}

// nearest is the hue that a colour is seen as; greys, and what is nearly black,
// have none.
func nearest(r, g, b int) (hue Style, light float64) {
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
