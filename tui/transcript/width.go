package transcript

import "github.com/charmbracelet/x/ansi"

// Width returns the number of cells of a line, as ansi.StringWidth does. It is several times faster
// for lines of ASCII, lines of boxes and control sequences, which most lines are.
func Width(line string) int {
	n := 0
	for i := 0; i < len(line); {
		switch b := line[i]; {
		case b >= 0x20 && b < 0x7f:
			n++
			i++
		case b == 0x1b:
			length := csiLength(line[i:])
			if length == 0 {
				return ansi.StringWidth(line)
			}
			i += length
		case isBox(line[i:]):
			n++
			i += 3
		default:
			return ansi.StringWidth(line)
		}
	}
	return n
}

// isBox reports whether a line begins with a box drawing character or a block element, U+2500 to
// U+259F, in UTF-8.
func isBox(s string) bool {
	return len(s) >= 3 && s[0] == 0xe2 && (s[1] == 0x94 || s[1] == 0x95 || s[1] == 0x96) &&
		s[2] >= 0x80 && s[2] <= 0xbf && (s[1] != 0x96 || s[2] <= 0x9f)
}

// csiLength returns the length of the complete control sequence that a line begins with, such as
// ESC [ 1 m, or 0.
func csiLength(s string) int {
	if len(s) < 3 || s[1] != '[' {
		return 0
	}
	i := 2
	for i < len(s) && s[i] >= 0x30 && s[i] <= 0x3f {
		i++
	}
	if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7e {
		return i + 1
	}
	return 0
}
