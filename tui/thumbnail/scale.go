package thumbnail

import (
	"image"
	"image/color"
	"math"
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

// reduce returns an image scaled to a size in pixels. Each pixel is the average of pixels evenly
// spread over the part of the image that it stands for.
func reduce(m image.Image, to size) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, to.width, to.height))
	b := m.Bounds()
	at := pixelReader(m)
	most := int(math.Sqrt(float64(maxSamples) / float64(to.width*to.height)))
	samplesX := samples(b.Dx(), to.width, most)
	samplesY := samples(b.Dy(), to.height, most)
	for y := range to.height {
		for x := range to.width {
			var r, g, bl, a uint64
			for j := range samplesY {
				fromY := b.Min.Y + (y*samplesY+j)*b.Dy()/(to.height*samplesY)
				for i := range samplesX {
					c := at(b.Min.X+(x*samplesX+i)*b.Dx()/(to.width*samplesX), fromY)
					r, g, bl, a = r+uint64(c.R), g+uint64(c.G), bl+uint64(c.B), a+uint64(c.A)
				}
			}
			if a == 0 {
				continue
			}
			n := uint64(samplesX * samplesY)
			out.SetNRGBA(x, y, color.NRGBA{
				uint8(r * 0xff / a), uint8(g * 0xff / a), uint8(bl * 0xff / a), uint8(a / n >> 8),
			})
		}
	}
	return out
}

// samples returns how many pixels of a row of from pixels are read for one of to pixels.
func samples(from, to, most int) int { return min(max(1, (from+to-1)/to), max(1, most), 16) }

// pixelReader returns a function that reads a pixel with premultiplied alpha.
func pixelReader(m image.Image) func(x, y int) color.RGBA64 {
	if m, ok := m.(image.RGBA64Image); ok {
		return m.RGBA64At
	}
	return func(x, y int) color.RGBA64 {
		r, g, b, a := m.At(x, y).RGBA()
		return color.RGBA64{R: uint16(r), G: uint16(g), B: uint16(b), A: uint16(a)}
	}
}
