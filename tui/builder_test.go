package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// testBuilder returns a builder with a clock and ids of the test's own.
func testBuilder(ctx context.Context, o Options, now func() time.Time, newID func() string) *builder {
	styles, err := o.newStyles()
	if err != nil {
		panic(err)
	}
	styles.Zone = time.UTC
	b := newBuilder(ctx, &o, styles)
	b.now, b.newID = now, newID
	return b
}

// noTimers makes a program start no timers and subscribe to nothing: the test moves time and gives messages.
func noTimers(p *program) {
	after := func(time.Duration, tea.Msg) tea.Cmd { return nil }
	p.sessions.viewConfig.After = after
	if p.dashboard != nil {
		p.dashboard.After = after
	}
	p.sessions.send = func(tea.Msg) {}
	p.sessions.onPanic = func(err error) { panic(err) }
}
