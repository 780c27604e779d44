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

// size is a size in cells, which have two pixels, one above the other.
type size struct{ width, height int }

// cells returns the size of the thumbnail where maxCols cells are free. The proportions of the image
// stay; it is not enlarged.
func (t *Thumbnail) cells(maxCols int) size {
	cols, rows := float64(t.Width), float64(t.Height)/2
	scale := min(1, float64(min(max(1, maxCols), MaxCols))/cols, MaxRows/rows)
	return size{max(1, int(math.Round(cols*scale))), max(1, int(math.Round(rows*scale)))}
}

// reduce returns an image scaled to the pixels of cells.
func reduce(m image.Image, to size) *image.NRGBA {
	return picture.Scale(m, to.width, 2*to.height, maxSamples)
}
