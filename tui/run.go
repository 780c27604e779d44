package tui

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"agentctl/internal/download"
	"agentctl/internal/userstate"
	"agentctl/tui/dashboard"
	"agentctl/tui/drafts"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview"
	"agentctl/tui/sessionview/input"
	"agentctl/tui/task"
	"agentctl/tui/ui"
)

// ErrInterrupted is returned by [Run] and [RunDashboard] after SIGINT. No key of the terminal sends
// SIGINT while the screen runs.
var ErrInterrupted = errors.New("interrupted")

// Prepare begins to fill the table of the widths of characters, which takes milliseconds, so that
// the first frame does not wait for it. Call it before what else takes time, such as to connect.
func Prepare() { go ansi.StringWidthWc("─") }

// Run shows a session until the user leaves or ctx ends. It restores the terminal and leaves the
// session running. It returns [ErrInterrupted] after SIGINT, [ErrTerminalGone] if the terminal has
// been closed, and an error that wraps a *panics.Error if a goroutine of the session panics. The
// caller must cancel ctx on other signals.
func Run(ctx context.Context, s remote.Session, o Options) error {
	return run(ctx, o, func(b *builder) *program { return b.newSession(s) })
}

// RunDashboard shows the sessions of a server, in the way of [Run]. It starts with the given
// session, or with the dashboard if session is "".
func RunDashboard(ctx context.Context, server remote.Server, session string, o Options) error {
	return run(ctx, o, func(b *builder) *program { return b.newDashboard(server, session) })
}

// run runs the program that build returns, with signal handling.
func run(ctx context.Context, o Options, build func(*builder) *program) error {
	styles, err := o.newStyles()
	if err != nil {
		return err
	}
	b := newBuilder(ctx, &o, styles)
	signals := listenForSignals(&o)
	p := build(b)
	return signals.stop(b.run(p, p, append(o.programOptions(b.pace), signals.attach)...))
}

// builder builds a program and owns the tasks that run outside of its event loop.
type builder struct {
	options *Options
	styles  *ui.Styles
	parent  context.Context
	ctx     context.Context // context of all tasks and subscriptions
	cancel  context.CancelFunc
	tasks   *task.Runner // tasks of the dashboard
	now     func() time.Time
	newID   func() string // returns a client message ID
	pace    *pace         // of the terminal
}

// newBuilder returns a builder whose tasks end with ctx.
func newBuilder(ctx context.Context, o *Options, s *ui.Styles) *builder {
	b := &builder{options: o, styles: s, parent: ctx, now: time.Now, newID: rand.Text, pace: newPace(o.environ())}
	b.ctx, b.cancel = context.WithCancel(ctx)
	b.tasks = task.NewRunner(b.ctx)
	return b
}

// newSession returns a program that shows one session.
func (b *builder) newSession(s remote.Session) *program {
	player, recorded := s.(remote.Player)
	if recorded {
		b.options.Alerts.Off = true
	}
	p := b.newProgram()
	if recorded {
		b.styles.Now = player.Now
	}
	p.sessions.viewConfig.Sessions = false
	p.sessions.session, p.initial = func(string) remote.Session { return s }, b.options.Composer.Session
	return p
}

// newDashboard returns a program that shows the sessions of a server. It starts with the session
// initial, or with the dashboard if initial is "".
func (b *builder) newDashboard(server remote.Server, initial string) *program {
	p := b.newProgram()
	p.sessions.session, p.initial = server.Session, initial
	p.panes.several = true
	p.panes.store = saver{tasks: b.tasks, after: p.sessions.after, saved: savedLayout{}}
	if save := b.options.Panes.Save; save != nil {
		p.panes.store.version = func() any { return p.panes.toSave() }
		p.panes.store.save = func() func() error {
			now := p.panes.toSave()
			return func() error { return save(now.layout, now.hidden) }
		}
	}
	if initial == "" {
		p.panes.restore(&b.options.Panes)
	}
	p.dashboard = dashboard.New(dashboard.Config{
		Server:    server,
		Tasks:     b.tasks,
		Styles:    b.styles,
		Now:       b.now,
		NewID:     b.newID,
		After:     p.sessions.viewConfig.After,
		Exec:      p.sessions.viewConfig.Exec,
		Editor:    p.sessions.viewConfig.Editor,
		Clipboard: p.sessions.viewConfig.Clipboard,
		CWD:       b.options.CWD,
		Agent:     b.options.Agent,
		Start:     b.options.Start,
		Worktree:  b.options.Worktree,
		Home:      b.options.home(),
		Local:     b.options.Local,
		Open:      p.sessions,
	})
	p.sessions.host = func(id string) sessionview.Host {
		local := b.options.Local && p.dashboard.OtherServer(id) == ""
		return sessionview.Host{Local: local, Server: p.dashboard.ServerOf(id)}
	}
	if b.options.Create && initial == "" {
		_, _ = p.dashboard.Act(keymap.NewSession) // opens a form: nothing to do
	}
	if store := b.options.Alerts.Read; store != nil {
		b.keepRead(p, store)
	}
	return p
}

// keepRead gives the session list what the user has read, and keeps it in a store. Without a record, the
// sessions of now are read.
func (b *builder) keepRead(p *program, store ReadStore) {
	list := p.dashboard.List()
	read, err := store.Load()
	if err != nil {
		p.dashboard.ShowStatus(err.Error())
	}
	p.read = saver{
		tasks: b.tasks, after: p.sessions.after,
		version: func() any { return list.ReadChanges() },
		save: func() func() error {
			read := list.Read()
			return func() error { return store.Save(read) }
		},
	}
	if read.Since.IsZero() {
		read.Since = b.now()
	} else {
		p.read.saved = 0 // no change yet
	}
	list.SetRead(read)
}

// newProgram returns a program without a session and without a dashboard.
func (b *builder) newProgram() *program {
	env := b.options.environ()
	b.styles.Now = b.now
	side := b.options.Side
	if side.Hidden == nil {
		side.Hidden = new(bool) // shared by all sessions
	}
	stored := b.options.Composer.Drafts
	if stored == nil {
		stored = drafts.Open(userstate.Dir{}, "") // in memory
	}
	sessions := &openSessions{
		ctx: b.ctx, keep: cmp.Or(b.options.Keep, defaultKeep), drafts: stored, closing: map[string]chan struct{}{},
		pace: b.pace,
		viewConfig: sessionview.Config{
			Styles: b.styles, Now: b.now, NewID: b.newID, After: b.tasks.After, Exec: tea.Exec,
			Editor: ui.EditorCommand(env), Clipboard: ui.DetectClipboard(env), Sessions: true,
			Viewer: new(download.Viewer),
			Input:  input.Options{NoShell: b.options.Composer.NoShell},
			Host:   sessionview.Host{Local: b.options.Local}, Env: ui.Environ(env), Side: side,
		},
	}
	b.styles.Keys.SetClickable(b.options.Mouse)
	p := &program{
		styles: b.styles, sessions: sessions, note: b.options.Note,
		tour:     tourPanel{guide: b.options.Tour, styles: b.styles, width: defaultWidth, height: defaultHeight},
		mouse:    mouse{now: b.now, enabled: b.options.Mouse, marks: b.options.Mouse},
		panes:    panes{styles: b.styles, width: defaultWidth, height: defaultHeight, covered: true},
		notifier: b.options.newNotifier(),
		watch:    newWatchRequest(),
	}
	p.mouse.beside = p.panes.beside
	return p
}

// Size of the screen, in cells, until the terminal reports its own.
const (
	defaultWidth  = 80
	defaultHeight = 24
)

// run runs a program until it ends, then stops its tasks and subscriptions. The model m is p or a wrapper
// of p.
func (b *builder) run(p *program, m tea.Model, options ...tea.ProgramOption) error {
	app := tea.NewProgram(m, append(options, tea.WithContext(b.parent))...)
	p.renderClock = renderClock{program: app, after: b.tasks.After}
	panicked := make(firstPanic, 1)
	onPanic := func(err error) { panicked.set(app, err) }
	b.tasks.OnPanic = onPanic
	p.sessions.send, p.sessions.onPanic = app.Send, onPanic
	if p.dashboard != nil {
		b.followServer(p, p.dashboard.Server, app)
	}
	_, err := app.Run()
	if err == nil && b.parent.Err() == nil && len(panicked) == 0 {
		b.reportLeft(p)
	}
	for _, o := range p.sessions.all {
		o.view.SaveDraft()
	}
	b.cancel()
	b.tasks.Close()
	p.sessions.closeAll()
	return errors.Join(panicked.or(exitError(b.parent, err)), p.sessions.drafts.Close(),
		p.sessions.viewConfig.Viewer.Close(), p.read.saveNow(), p.panes.store.saveNow())
}

// followServer starts sending the summaries and the connection states of the server to app. The
// summaries, and the connections of further servers, start when the program requests them.
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
	wg, onPanic := &p.sessions.wg, p.sessions.onPanic
	sendSummaries := func(u []dashboard.SummaryUpdate) { app.Send(dashboard.SummariesMsg(u)) }
	sendConn := func(c []remote.Conn) { app.Send(dashboard.ConnMsg(c[len(c)-1])) }
	wg.Go(func() {
		if task.Wait(b.ctx, p.watch.made) {
			onPanic(task.Pump(b.ctx, watch, sendSummaries))
		}
	})
	wg.Go(func() {
		onPanic(task.Pump(b.ctx, server.Conns, sendConn))
	})
	several, ok := server.(remote.Several)
	if !ok {
		return
	}
	sendConns := func(c []remote.ServerConn) { app.Send(dashboard.ServerConnsMsg(c)) }
	wg.Go(func() {
		if task.Wait(b.ctx, p.watch.made) {
			onPanic(task.Pump(b.ctx, several.ServerConns, sendConns))
		}
	})
}

// firstPanic holds the first panic of a goroutine outside of the event loop. Its capacity is 1.
type firstPanic chan error

// set stores the first error and ends the program. It ignores nil and later errors.
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

// or returns the stored panic, or err without one.
func (f firstPanic) or(err error) error {
	select {
	case panicErr := <-f:
		return fmt.Errorf("run screen: %w", panicErr)
	default:
		return err
	}
}

// exitError converts the error of a Bubble Tea program. It returns nil if ctx has ended.
func exitError(ctx context.Context, err error) error {
	switch {
	case err == nil || ctx.Err() != nil:
		return nil
	case errors.Is(err, tea.ErrInterrupted):
		return ErrInterrupted
	}
	return fmt.Errorf("run screen: %w", err)
}
