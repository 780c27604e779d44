package sessionview

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/sessionview/panel"
)

// clock redraws the screen each second while that shows a time which runs.
type clock struct {
	panel.Base
	now  func() time.Time
	runs func() bool
	tick func()

	next time.Time // zero: the clock stands still
}

// Deadline implements [panel.Part].
func (c *clock) Deadline() time.Time {
	switch {
	case !c.runs():
		c.next = time.Time{}
	case c.next.IsZero():
		c.next = c.now().Add(time.Second)
	}
	return c.next
}

// Update implements [panel.Part].
func (c *clock) Update(msg tea.Msg) (cmd tea.Cmd, changed bool) {
	if msg != (panel.DueMsg{}) {
		return nil, false
	}
	c.next = time.Time{}
	c.tick()
	return nil, true
}
