package transcript

import "strings"

// pictureMark begins a line of a picture. It has no effect on a terminal. Clean text has no control
// sequences, so untrusted text has no such line.
const pictureMark = "\x1b[0;10m"

// Picture returns a line of a picture: cells in their own colours. It is drawn as it is, and has no
// text to copy.
func Picture(line string) string { return pictureMark + line }

// isPicture reports whether a line, with or without a margin, is of a picture.
func isPicture(line string) bool { return strings.Contains(line, pictureMark) }

// PictureAt returns the item whose picture is drawn at a row of the window.
func (v *viewport) PictureAt(row int) (ID, bool) {
	id, found, at := ID(0), false, 0
	v.normalize()
	v.visitLines(func(p Point, line string) {
		if at == row && isPicture(line) {
			id, found = p.Item, true
		}
		at++
	})
	return id, found
}
