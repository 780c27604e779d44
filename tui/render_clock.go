package tui

import (
	"reflect"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Intervals of the renderer.
const (
	wakeInterval = time.Millisecond // after the first message, so that it shows immediately
	busyInterval = time.Second / 60
	idleInterval = time.Second
	restInterval = time.Hour // while the terminal has no focus

	wakeTime = 20 * time.Millisecond // of wakeInterval
	busyTime = 50 * time.Millisecond // of busyInterval after the last message

	openingWakes = 5 // times wakeTime while a screen opens, so that no step of it waits for the renderer
)

// renderClock slows the renderer of an idle program down. Bubble Tea compares the last two views 60
// times a second, also while no message arrives, and has no option for less. Only the event loop
// uses a renderClock. The zero value leaves the renderer alone.
type renderClock struct {
	program *tea.Program
	after   func(time.Duration, tea.Msg) tea.Cmd

	ticker   *time.Ticker // of the renderer
	interval time.Duration
	pending  bool // a renderClockMsg is pending
	wakes    int  // times wakeTime that are left
	active   bool // a message has arrived since the last renderClockMsg
	resting  bool // the terminal has no focus
}

// renderClockMsg asks whether messages still arrive.
type renderClockMsg struct{}

// open makes the renderer fast while a screen opens.
func (c *renderClock) open() tea.Cmd {
	c.wakes = openingWakes
	if c.program != nil {
		c.setInterval(wakeInterval)
	}
	return c.touch()
}

// touch makes the renderer fast for a moment. Call it for every message.
func (c *renderClock) touch() tea.Cmd {
	if c.program == nil {
		return nil
	}
	c.active = true
	if c.pending {
		return nil
	}
	c.pending = true
	c.setInterval(wakeInterval)
	return c.after(wakeTime, renderClockMsg{})
}

// check makes the renderer slow if no message has arrived since the last check. A view that is
// drawn after a check is rendered before the next one.
func (c *renderClock) check() tea.Cmd {
	if c.wakes > 0 {
		c.wakes--
		return c.after(wakeTime, renderClockMsg{})
	}
	if !c.active {
		c.pending = false
		if c.resting {
			c.setInterval(restInterval)
		} else {
			c.setInterval(idleInterval)
		}
		return nil
	}
	c.active = false
	c.setInterval(busyInterval)
	return c.after(busyTime, renderClockMsg{})
}

// observe follows the focus of the terminal.
func (c *renderClock) observe(msg tea.Msg) {
	_, c.resting = msg.(tea.BlurMsg)
}

// setInterval sets the interval of the renderer.
func (c *renderClock) setInterval(d time.Duration) {
	if c.ticker == nil {
		c.ticker = rendererTicker(c.program)
	}
	if c.ticker != nil && c.interval != d {
		c.ticker.Reset(d)
	}
	c.interval = d
}

// rendererTicker returns the ticker of the renderer of a running program, which Bubble Tea does not
// export. It returns nil without one: the renderer then keeps its rate.
func rendererTicker(p *tea.Program) *time.Ticker {
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() || field.IsNil() {
		return nil
	}
	return (*time.Ticker)(field.UnsafePointer())
}
