package thumbnail

import (
	"context"
	"slices"
)

// Display draws thumbnails on a terminal. The event loop owns it. Load, Entered and Leaving are
// safe for concurrent use.
type Display struct {
	mode     Mode
	terminal terminal
	sent     sentImages
	decoding chan struct{} // limits the images that are decoded at the same time
}

// NewDisplay returns the display of a terminal of which nothing is known. "" is Auto.
func NewDisplay(mode Mode) *Display {
	if mode == "" {
		mode = Auto
	}
	return &Display{mode: mode, decoding: make(chan struct{}, 1)}
}

// Mode returns the user's choice.
func (d *Display) Mode() Mode { return d.mode }

// Method returns how images are drawn. Thumbnails made for another method are not drawn.
func (d *Display) Method() Method { return d.terminal.method(d.mode) }

// SetMode sets the user's choice. It returns the sequences to write to the terminal.
func (d *Display) SetMode(mode Mode) string {
	d.mode = mode
	if d.Method() == Kitty {
		return ""
	}
	removed := d.sent.removeAll()
	d.sent.forget()
	return removed
}

// SetColours sets the number of colours of the terminal.
func (d *Display) SetColours(c Colours) { d.terminal.colours = c }

// Query returns the query that decides the method, or "" if none is needed or it was sent. Its
// answers go to the methods below.
func (d *Display) Query() string {
	t := &d.terminal
	if t.asked || t.colours == UnknownColours || d.Method() != Undecided {
		return ""
	}
	t.asked = true
	return kittyQuery
}

// SetGraphics handles the answer of the graphics protocol.
func (d *Display) SetGraphics(id int, answer []byte) {
	if d.terminal.asked && id == queryID {
		d.terminal.graphics = string(answer) == "OK"
	}
}

// SetName handles the name of the terminal.
func (d *Display) SetName(name string) { d.terminal.placeholders = hasPlaceholders(name) }

// EndQuery handles the last answer to the query, or that there was none in time. Later answers
// still count.
func (d *Display) EndQuery() { d.terminal.answered = d.terminal.asked }

// Load makes the thumbnail of an image for a method.
func (d *Display) Load(ctx context.Context, method Method, data []byte) (*Thumbnail, error) {
	select {
	case d.decoding <- struct{}{}:
		defer func() { <-d.decoding }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return New(ctx, method, data)
}

// Fits reports whether a thumbnail was made for the method of the terminal.
func (d *Display) Fits(t *Thumbnail) bool { return t != nil && t.method == d.Method() }

// Lines draws a thumbnail at a width. The number of lines depends on the width alone. They are
// blank while the terminal does not have the image.
func (d *Display) Lines(t *Thumbnail, width int) []string {
	if !d.Fits(t) {
		return nil
	}
	cells := t.cells(width)
	if t.method == HalfBlocks {
		if b := t.pixels.Rect; b.Dx() == cells.width && b.Dy() == 2*cells.height {
			return blockLines(t.pixels)
		}
		return blockLines(reduce(t.pixels, size{cells.width, 2 * cells.height}))
	}
	if id, ok := d.sent.id(t, cells); ok {
		return placeholderLines(id, cells)
	}
	return slices.Repeat([]string{" "}, cells.height)
}

// Show returns the sequences that send a thumbnail to the terminal, or "" if it needs none. After
// others, Lines draws the thumbnail. ok is false if the image must be loaded again: the display
// keeps those that were shown last.
func (d *Display) Show(t *Thumbnail, width int) (sequence string, ok bool) {
	if !d.Fits(t) {
		return "", false
	}
	if t.method != Kitty {
		return "", true
	}
	return d.sent.add(t, t.cells(width))
}

// Entered returns the sequences to write after the alternate screen was entered, which has no
// images. It sends the last ones again. The others are loaded again when they are shown.
func (d *Display) Entered() string { return d.sent.resend() }

// Leaving returns the sequences to write before the alternate screen is left.
func (d *Display) Leaving() string { return d.sent.removeAll() }
