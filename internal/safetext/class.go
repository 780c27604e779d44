package safetext

import "unicode"

// ImagePlaceholder is the character that some terminals draw as a part of an image.
const ImagePlaceholder = '\U0010EEEE'

// IsControl reports whether a rune controls a terminal or the direction of text: C0, newline and tab
// among them, DEL, C1, bidirectional controls, and ImagePlaceholder.
func IsControl(r rune) bool {
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == ImagePlaceholder || r >= 0x300 && unicode.Is(unicode.Bidi_Control, r)
}

// IsInvisible reports whether nothing is drawn for a rune: a control, a line separator, a format
// character such as the soft hyphen, or another default ignorable code point.
func IsInvisible(r rune) bool {
	if r < 0x300 {
		return IsControl(r) || r == '\u00ad'
	}
	return IsControl(r) || r == '\u2028' || r == '\u2029' ||
		unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// IsBlank reports whether a rune is drawn as a space and is another character.
func IsBlank(r rune) bool {
	return r >= 0x80 && unicode.Is(unicode.Zs, r) || r == '\u2800' || r == '\u3164' || r == '\uffa0'
}
