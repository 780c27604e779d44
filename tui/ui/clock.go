package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// clock makes a screen look different each second while it shows a time that runs.
type clock struct {
	now  func() time.Time
	runs func() bool
	tick func() // called each second; may be nil

	next time.Time // zero: the clock stands still
}

// Deadline implements [Timed].
func (c *clock) Deadline() time.Time {
	switch {
	case !c.runs():
		c.next = time.Time{}
	case c.next.IsZero():
		c.next = c.now().Add(time.Second)
	}
	return c.next
}

// Due implements [Timed].
func (c *clock) Due() (cmd tea.Cmd, changed bool) {
	c.next = time.Time{}
	if c.tick != nil {
		c.tick()
	}
	return nil, true
}
