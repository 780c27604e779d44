package ui

import tea "charm.land/bubbletea/v2"

// Canvas is the size of a screen in cells and its last drawing. Code that changes the screen sets
// Dirty.
type Canvas struct {
	Width, Height int
	Dirty         bool

	view tea.View
}

// Resize sets the size of the screen, at least 1x1.
func (c *Canvas) Resize(msg tea.WindowSizeMsg) {
	c.Width, c.Height = max(msg.Width, 1), max(msg.Height, 1)
	c.Dirty = true
}

// View returns the last drawing. It calls draw only if Dirty is set.
func (c *Canvas) View(draw func() tea.View) tea.View {
	if c.Dirty {
		c.view = draw()
		c.Dirty = false
	}
	return c.view
}
