package picture

import (
	"image"
	"image/color"
	"math"
)

// Scale returns an image scaled to a size. Each pixel is the average of pixels evenly spread over the
// part of the image that it stands for. About maxSamples of them are read at most.
func Scale(m image.Image, width, height, maxSamples int) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, width, height))
	b := m.Bounds()
	at := pixelReader(m)
	most := int(math.Sqrt(float64(maxSamples) / float64(width*height)))
	samplesX := samples(b.Dx(), width, most)
	samplesY := samples(b.Dy(), height, most)
	for y := range height {
		for x := range width {
			var r, g, bl, a uint64
			for j := range samplesY {
				fromY := b.Min.Y + (y*samplesY+j)*b.Dy()/(height*samplesY)
				for i := range samplesX {
					c := at(b.Min.X+(x*samplesX+i)*b.Dx()/(width*samplesX), fromY)
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
