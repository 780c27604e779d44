package tui

import (
	"context"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"agentctl/tui/remote"
)

// testBuilder returns a builder with the given clock and ID source, in UTC.
func testBuilder(ctx context.Context, o Options, now func() time.Time, newID func() string) *builder {
	styles, err := o.newStyles()
	if err != nil {
		panic(err)
	}
	styles.Zone = time.UTC
	b := newBuilder(ctx, &o, styles)
	b.now, b.newID, b.pace = now, newID, nil // the environment of the tests may be one of SSH
	return b
}

// testDashboardModel returns the model of a dashboard that starts no timers and no subscriptions.
func testDashboardModel(ctx context.Context, o Options, now func() time.Time, s remote.Server) *program {
	p := testBuilder(ctx, o, now, func() string { return "" }).newDashboard(s, "")
	noTimers(p)
	return p
}

// fixedClock returns a clock that always shows now.
func fixedClock(now time.Time) func() time.Time {
	return func() time.Time { return now }
}

// noTimers makes a program start no timers and drop the messages of subscriptions. The test sends
// all messages itself.
func noTimers(p *program) {
	after := func(time.Duration, tea.Msg) tea.Cmd { return nil }
	p.sessions.viewConfig.After = after
	if p.dashboard != nil {
		p.dashboard.After = after
	}
	p.sessions.send = func(tea.Msg) {}
	p.sessions.onPanic = func(err error) { panic(err) }
}

// testProgramOptions returns the options of a program without a terminal: a screen of the given
// size without colours. A nil input disables keys.
func testProgramOptions(input io.Reader, output io.Writer, width, height int) []tea.ProgramOption {
	return []tea.ProgramOption{
		tea.WithInput(input), tea.WithOutput(output), tea.WithoutSignalHandler(), tea.WithWindowSize(width, height),
		tea.WithColorProfile(colorprofile.ASCII), tea.WithEnvironment([]string{"TERM=xterm-256color"}),
	}
}
