package thumbnail

import (
	"image"
	"math"

	"agentctl/internal/picture"
)

// The largest thumbnail, in cells.
const (
	MaxCols = 60
	MaxRows = 12
)

// maxSamples bounds the pixels that reduce reads.
const maxSamples = 4 << 20

// size is a size in cells or pixels.
type size struct{ width, height int }

// fit returns the cells that an image takes, at most maxCols x MaxRows. A cell has the given
// pixels. The proportions of the image stay; it is not enlarged.
func fit(pixels, cell size, maxCols int) size {
	cols := float64(pixels.width) / float64(cell.width)
	rows := float64(pixels.height) / float64(cell.height)
	scale := min(1, float64(min(maxCols, MaxCols))/cols, MaxRows/rows)
	return size{max(1, int(math.Round(cols*scale))), max(1, int(math.Round(rows*scale)))}
}

// reduce returns an image scaled to a size in pixels.
func reduce(m image.Image, to size) *image.NRGBA {
	return picture.Scale(m, to.width, to.height, maxSamples)
}
