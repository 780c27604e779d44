package thumbnail

import (
	"context"
	"image"

	"agentctl/internal/picture"
)

// Thumbnail is an image reduced for a method.
type Thumbnail struct {
	Width, Height int // of the image, in pixels

	method Method
	pixels *image.NRGBA // for HalfBlocks: the pixels of the largest thumbnail
	png    []byte       // for Kitty; nil once it was sent: the display has it
}

// New decodes an image and reduces it for a method. It is safe for concurrent use.
func New(ctx context.Context, method Method, data []byte) (*Thumbnail, error) {
	m, err := picture.Decode(ctx, data)
	if err != nil {
		return nil, err
	}
	t := &Thumbnail{Width: m.Bounds().Dx(), Height: m.Bounds().Dy(), method: method}
	cells := t.cells(MaxCols)
	if method == HalfBlocks {
		t.pixels = reduce(m, size{cells.width, 2 * cells.height})
		return t, nil
	}
	t.png, err = encodePNG(reduce(m, size{
		min(t.Width, cells.width*sharpPixels.width), min(t.Height, cells.height*sharpPixels.height),
	}))
	return t, err
}

// cells returns the size of the thumbnail where maxCols cells are free.
func (t *Thumbnail) cells(maxCols int) size {
	cell := cellPixels
	if t.method == HalfBlocks {
		cell = blockPixels
	}
	return fit(size{t.Width, t.Height}, cell, max(1, maxCols))
}
