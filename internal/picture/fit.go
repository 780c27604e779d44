package picture

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"sync"
)

// A Bound is the largest size of an image.
type Bound struct {
	Side  int // of its longest side, in pixels
	Bytes int // of its file
}

// MaxSide is the longest side that models see: Claude scales a longer one down to it, as
// platform.claude.com/docs/en/build-with-claude/vision says. The documents of other providers name
// no size that is larger and useful.
const MaxSide = 1568

// decoding guards the memory of decoded pixels: one image is scaled at a time.
var decoding sync.Mutex

// qualities are those of JPEG files, in the order of attempts.
var qualities = []int{85, 70, 50}

// Fit returns an image that is not larger than a bound, and its media type. An image that fits is
// returned as it is, and is not decoded. Others become a PNG, or a JPEG if they were one or
// the PNG is too large. An animation is reduced to its first frame.
func Fit(ctx context.Context, data []byte, most Bound) (out []byte, mediaType string, err error) {
	config, format, err := header(data)
	if err != nil {
		return nil, "", err
	}
	if max(config.Width, config.Height) <= most.Side && len(data) <= most.Bytes {
		return data, "image/" + format, nil
	}
	decoding.Lock()
	defer decoding.Unlock()
	m, err := Decode(ctx, data)
	if err != nil {
		return nil, "", err
	}
	scaled := reduce(m, most.Side)
	if format != "jpeg" {
		if out, err = encodePNG(scaled); err != nil || len(out) <= most.Bytes {
			return out, "image/png", err
		}
	}
	flatten(scaled)
	for ctx.Err() == nil {
		for _, quality := range qualities {
			if out, err = encodeJPEG(scaled, quality); err != nil || len(out) <= most.Bytes {
				return out, "image/jpeg", err
			}
		}
		side := max(scaled.Rect.Dx(), scaled.Rect.Dy())
		if side == 1 {
			return nil, "", fmt.Errorf("no image has only %d bytes", most.Bytes)
		}
		shrink := math.Sqrt(float64(most.Bytes) / float64(len(out)))
		scaled = reduce(scaled, int(float64(side)*min(0.9, max(0.5, shrink))))
	}
	return nil, "", ctx.Err()
}

// maxSamples bounds the pixels that are read to scale an image: all that Decode returns.
const maxSamples = 64 << 20

// reduce returns an image whose longest side has at most side pixels.
func reduce(m image.Image, side int) *image.NRGBA {
	width, height := m.Bounds().Dx(), m.Bounds().Dy()
	if longest := max(width, height); longest > side {
		width, height = max(1, width*side/longest), max(1, height*side/longest)
	}
	return Scale(m, width, height, maxSamples)
}

// flatten puts white behind the transparent pixels of an image: a JPEG has none.
func flatten(m *image.NRGBA) {
	for i := 0; i < len(m.Pix); i += 4 {
		a := int(m.Pix[i+3])
		for j := range 3 {
			m.Pix[i+j] = uint8((int(m.Pix[i+j])*a + 0xff*(0xff-a)) / 0xff)
		}
		m.Pix[i+3] = 0xff
	}
}

func encodePNG(m image.Image) ([]byte, error) {
	var out bytes.Buffer
	if err := png.Encode(&out, m); err != nil {
		return nil, fmt.Errorf("encode image: %w", err)
	}
	return out.Bytes(), nil
}

// encodeJPEG encodes an image without transparent pixels. The encoder is fast for image.RGBA.
func encodeJPEG(m *image.NRGBA, quality int) ([]byte, error) {
	var out bytes.Buffer
	opaque := &image.RGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
	if err := jpeg.Encode(&out, opaque, &jpeg.Options{Quality: quality}); err != nil {
		return nil, fmt.Errorf("encode image: %w", err)
	}
	return out.Bytes(), nil
}
