package ui

import tea "charm.land/bubbletea/v2"

// Canvas is the size of a screen and its last drawing. Every change of the screen sets Dirty.
type Canvas struct {
	Width, Height int
	Dirty         bool

	view tea.View
}

// NewCanvas returns a canvas of the size that is assumed until the terminal reports its own.
func NewCanvas() Canvas { return Canvas{Width: 80, Height: 24, Dirty: true} }

// Resize sets the size of the screen.
func (c *Canvas) Resize(msg tea.WindowSizeMsg) {
	c.Width, c.Height = max(msg.Width, 1), max(msg.Height, 1)
	c.Dirty = true
}

// View returns the last drawing. It draws only when something has changed.
func (c *Canvas) View(draw func() tea.View) tea.View {
	if c.Dirty {
		c.view = draw()
		c.Dirty = false
	}
	return c.view
}
