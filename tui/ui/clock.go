package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// clock makes a screen look different each second while it shows a time that runs.
type clock struct {
	now  func() time.Time
	runs func() bool
	slow func() bool // a time that changes each minute is shown; nil: none
	tick func()      // called when it runs; may be nil

	next time.Time // zero: the clock stands still
}

// Deadline implements [Timed].
func (c *clock) Deadline() time.Time {
	period := time.Second
	switch {
	case c.runs():
	case c.slow != nil && c.slow():
		period = time.Minute
	default:
		c.next = time.Time{}
		return c.next
	}
	if next := c.now().Add(period); c.next.IsZero() || next.Before(c.next) {
		c.next = next
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
