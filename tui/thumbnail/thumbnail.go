package thumbnail

import (
	"context"
	"image"

	"agentctl/internal/picture"
)

// Thumbnail is an image reduced to the size of the largest thumbnail.
type Thumbnail struct {
	Width, Height int // of the image, in pixels

	pixels *image.NRGBA
}

// New decodes and reduces an image. It is safe for concurrent use.
func New(ctx context.Context, data []byte) (*Thumbnail, error) {
	m, err := picture.Decode(ctx, data)
	if err != nil {
		return nil, err
	}
	t := &Thumbnail{Width: m.Bounds().Dx(), Height: m.Bounds().Dy()}
	t.pixels = reduce(m, t.cells(MaxCols))
	return t, nil
}

// Lines draws the thumbnail at a width. The number of lines depends on the width alone.
func (t *Thumbnail) Lines(width int) []string {
	cells := t.cells(width)
	if b := t.pixels.Rect; b.Dx() == cells.width && b.Dy() == 2*cells.height {
		return blockLines(t.pixels)
	}
	return blockLines(reduce(t.pixels, cells))
}
