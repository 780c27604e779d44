package tui

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/dashboard"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview"
	"agentctl/tui/task"
	"agentctl/tui/ui"
)

// ErrInterrupted is the error of a screen that SIGINT ended. On a terminal no key sends it.
var ErrInterrupted = errors.New("interrupted")

// Run shows a session until the user leaves or ctx ends. The terminal is restored, and the session goes on.
// SIGINT ends it with ErrInterrupted, the end of the terminal with ErrTerminalGone, a panic of the session with
// a *panics.Error. The caller makes other signals end ctx.
func Run(ctx context.Context, s remote.Session, o Options) error {
	return run(ctx, o, func(b *builder) *program { return b.newSession(s) })
}

// RunDashboard shows the sessions of a server as Run does: the session named first, or the dashboard when none
// is named.
func RunDashboard(ctx context.Context, server remote.Server, session string, o Options) error {
	return run(ctx, o, func(b *builder) *program { return b.newDashboard(server, session) })
}

// run runs the program that build returns.
func run(ctx context.Context, o Options, build func(*builder) *program) error {
	styles, err := o.newStyles()
	if err != nil {
		return err
	}
	b := newBuilder(ctx, &o, styles)
	signals := listenForSignals(&o)
	return signals.stop(b.run(build(b), append(o.programOptions(), signals.attach)...))
}

// builder makes a program and owns everything that runs outside of its event loop.
type builder struct {
	options *Options
	styles  *ui.Styles
	parent  context.Context
	ctx     context.Context // of all tasks and subscriptions
	cancel  context.CancelFunc
	tasks   *task.Runner // of the dashboard
	now     func() time.Time
	newID   func() string
}

func newBuilder(ctx context.Context, o *Options, s *ui.Styles) *builder {
	b := &builder{options: o, styles: s, parent: ctx, now: time.Now, newID: rand.Text}
	b.ctx, b.cancel = context.WithCancel(ctx)
	b.tasks = task.NewRunner(b.ctx)
	return b
}

// newSession returns a program of one session.
func (b *builder) newSession(s remote.Session) *program {
	p := b.newProgram()
	p.sessions.viewConfig.Sessions = false
	p.session = func(string) remote.Session { return s }
	return p
}

// newDashboard returns a program of all sessions of a server.
func (b *builder) newDashboard(server remote.Server, first string) *program {
	p := b.newProgram()
	p.session, p.initial = server.Session, first
	p.dashboard = dashboard.New(dashboard.Config{
		Server:    server,
		Tasks:     b.tasks,
		Styles:    b.styles,
		Now:       b.now,
		NewID:     b.newID,
		After:     p.sessions.viewConfig.After,
		Clipboard: p.sessions.viewConfig.Clipboard,
		CWD:       b.options.CWD,
		Open:      p.sessions,
	})
	return p
}

func (b *builder) newProgram() *program {
	env := b.options.environ()
	b.styles.Now = b.now
	keep := b.options.Keep
	if keep == 0 {
		keep = defaultKeep
	}
	return &program{
		styles:         b.styles,
		mouse:          b.options.Mouse,
		notifier:       b.options.newNotifier(),
		watchRequested: make(chan struct{}),
		sessions: &openSessions{
			ctx: b.ctx, keep: keep, drafts: map[string]string{}, closing: map[string]chan struct{}{},
			viewConfig: sessionview.Config{
				Styles: b.styles, Now: b.now, NewID: b.newID, After: b.tasks.After, Exec: tea.Exec,
				Editor: ui.EditorCommand(env), Clipboard: ui.DetectClipboard(env), Sessions: true,
			},
		},
		width:  80,
		height: 24,
	}
}

// run runs a program until it ends, then everything that was started for it.
func (b *builder) run(p *program, options ...tea.ProgramOption) error {
	return b.runModel(p, p, options...)
}

// runModel runs a program as the model given, which is the program or wraps it.
func (b *builder) runModel(p *program, m tea.Model, options ...tea.ProgramOption) error {
	app := tea.NewProgram(m, append(options, tea.WithContext(b.parent))...)
	panicked := make(firstPanic, 1)
	onPanic := func(err error) { panicked.set(app, err) }
	b.tasks.OnPanic = onPanic
	p.sessions.send, p.sessions.onPanic = app.Send, onPanic
	if p.dashboard != nil {
		b.followServer(p, p.dashboard.Server, app)
	}
	_, err := app.Run()
	b.cancel()
	b.tasks.Close()
	p.sessions.closeAll()
	return panicked.or(exitError(b.parent, err))
}

// followServer starts following the server's summaries and its connection.
func (b *builder) followServer(p *program, server remote.Server, app *tea.Program) {
	watch := func(ctx context.Context) iter.Seq[dashboard.SummaryUpdate] {
		return func(yield func(dashboard.SummaryUpdate) bool) {
			for s, err := range server.Watch(ctx) {
				if !yield(dashboard.SummaryUpdate{Summary: s, Err: err}) {
					return
				}
			}
		}
	}
	running := &p.sessions.wg
	running.Go(func() {
		if task.Wait(b.ctx, p.watchRequested) {
			p.sessions.onPanic(
				task.Pump(b.ctx, watch, func(u []dashboard.SummaryUpdate) { app.Send(dashboard.SummariesMsg(u)) }),
			)
		}
	})
	running.Go(func() {
		p.sessions.onPanic(
			task.Pump(b.ctx, server.Conns, func(c []remote.Conn) { app.Send(dashboard.ConnMsg(c[len(c)-1])) }),
		)
	})
}

// firstPanic holds the first panic outside of the event loop.
type firstPanic chan error

// set notes a panic and ends the program. A nil error is none.
func (f firstPanic) set(p *tea.Program, err error) {
	if err == nil {
		return
	}
	select {
	case f <- err:
		p.Quit()
	default:
	}
}

// or returns the panic, else err.
func (f firstPanic) or(err error) error {
	select {
	case panicErr := <-f:
		return fmt.Errorf("run screen: %w", panicErr)
	default:
		return err
	}
}

// exitError returns why a program ended, unless the user or its context ended it.
func exitError(ctx context.Context, err error) error {
	switch {
	case err == nil || ctx.Err() != nil:
		return nil
	case errors.Is(err, tea.ErrInterrupted):
		return ErrInterrupted
	}
	return fmt.Errorf("run screen: %w", err)
}
