package picture

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
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
// returned as it is, and is not decoded. Others become a PNG, or a JPEG if that is needed or they
// were one. An animation is reduced to its first frame.
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
	for side := min(most.Side, max(config.Width, config.Height)); side > 0 && ctx.Err() == nil; side = side * 3 / 4 {
		scaled := reduce(m, side)
		if format != "jpeg" {
			out, err := encodePNG(scaled)
			if err != nil || len(out) <= most.Bytes {
				return out, "image/png", err
			}
		}
		flatten(scaled)
		for _, q := range qualities {
			out, err := encodeJPEG(scaled, q)
			if err != nil || len(out) <= most.Bytes {
				return out, "image/jpeg", err
			}
		}
	}
	if ctx.Err() != nil {
		return nil, "", ctx.Err()
	}
	return nil, "", fmt.Errorf("no image has only %d bytes", most.Bytes)
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

func encodeJPEG(m image.Image, quality int) ([]byte, error) {
	var out bytes.Buffer
	if err := jpeg.Encode(&out, m, &jpeg.Options{Quality: quality}); err != nil {
		return nil, fmt.Errorf("encode image: %w", err)
	}
	return out.Bytes(), nil
}
