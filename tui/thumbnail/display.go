package thumbnail

import "context"

// Display says whether a terminal draws thumbnails, and makes them one at a time. The event loop owns
// its fields; Load is safe for concurrent use.
type Display struct {
	Off     bool // the user wants lines of text
	Colours bool // the terminal has 256 colours or more

	loading chan struct{} // limits the images that are decoded at the same time
}

// NewDisplay returns the display of a terminal whose colours are not known.
func NewDisplay(off bool) *Display { return &Display{Off: off, loading: make(chan struct{}, 1)} }

// Draws reports whether images are drawn.
func (d *Display) Draws() bool { return d.Colours && !d.Off }

// Load makes the thumbnail of an image.
func (d *Display) Load(ctx context.Context, data []byte) (*Thumbnail, error) {
	select {
	case d.loading <- struct{}{}:
		defer func() { <-d.loading }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return New(ctx, data)
}
