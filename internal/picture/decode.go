package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif"  // decodes the first frame
	_ "image/jpeg" // decodes JPEG
	_ "image/png"  // decodes PNG
	"io"

	"agentctl/internal/panics"

	_ "golang.org/x/image/webp" // decodes WebP
)

const (
	// MaxBytes bounds the file of an image.
	MaxBytes = 16 << 20

	// maxDecoded bounds the memory of the decoded pixels, in bytes.
	maxDecoded = 128 << 20

	// maxPixelsPerByte bounds the pixels of a file by its length. No format compresses more:
	// deflate expands 1032 times, to at most 8 pixels a byte.
	maxPixelsPerByte = 1032 * 8
)

// ErrFormat is returned for a content that is not an image of a known format.
var ErrFormat = errors.New("not a PNG, JPEG, GIF or WebP image")

// Decode decodes an image. It reads the size first and refuses an image that would take too much
// memory. It stops reading when ctx ends. A panic of a decoder is an error.
func Decode(ctx context.Context, data []byte) (m image.Image, err error) {
	defer panics.RecoverTo(&err)
	if _, _, err := header(data); err != nil {
		return nil, err
	}
	m, _, err = image.Decode(contextReader{ctx, bytes.NewReader(data)})
	if ended := ctx.Err(); ended != nil {
		return nil, ended
	}
	if err != nil {
		return nil, fmt.Errorf("damaged image: %w", err)
	}
	if m.Bounds().Empty() {
		return nil, errors.New("empty image")
	}
	return m, nil
}

// header returns the size of an image that may be decoded, and the name of its format.
func header(data []byte) (c image.Config, format string, err error) {
	defer panics.RecoverTo(&err)
	if len(data) > MaxBytes {
		return c, "", fmt.Errorf("more than %d MiB", MaxBytes>>20)
	}
	c, format, err = image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return c, "", ErrFormat
	}
	return c, format, checkSize(c, len(data))
}

// checkSize reports whether an image of n bytes may be decoded.
func checkSize(c image.Config, n int) error {
	width, height := int64(c.Width), int64(c.Height)
	const maxSide = 1 << 20 // the products below do not overflow
	switch {
	case width <= 0 || height <= 0:
		return errors.New("empty image")
	case width > maxSide || height > maxSide || width*height*pixelBytes(c.ColorModel) > maxDecoded:
		return fmt.Errorf("too large: %d×%d pixels", width, height)
	case width*height > int64(n)*maxPixelsPerByte:
		return fmt.Errorf("damaged image: %d bytes for %d×%d pixels", n, width, height)
	}
	return nil
}

// pixelBytes returns the bytes of a decoded pixel, at most.
func pixelBytes(m color.Model) int64 {
	switch m {
	case color.Gray16Model, color.RGBA64Model, color.NRGBA64Model:
		return 8
	}
	if _, ok := m.(color.Palette); ok {
		return 1
	}
	return 4
}

// contextReader is a reader that fails after the end of a context. A decoder can take long for few
// bytes, and has no other way to stop.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

// Read implements [io.Reader].
func (r contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b[:min(len(b), 512)])
}
