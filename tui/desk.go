package tui

import (
	"context"
	"crypto/rand"
	"iter"
	"sync"
	"time"

	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/task"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/sessionlist"
)

// sessionsKept is how many sessions stay subscribed, unless the options say
// otherwise: the one on the screen and those shown before it.
const sessionsKept = 3

// Desk shows the sessions of a fleet, and any of them, until the person leaves
// or ctx ends: the session named first, or all when none is. The terminal is left
// as it was, and the sessions go on.
func Desk(ctx context.Context, f remote.Server, session string, o Options) error {
	look, err := o.look()
	if err != nil {
		return err
	}
	d := newDesk(ctx, f, look, o, time.Now, rand.Text)
	d.first = session
	from := listen(&o)
	return from.stop(runDesk(ctx, d, d, append(o.program(), from.option)...))
}

// runDesk runs the desk as the model given, which is the desk or wraps it.
func runDesk(ctx context.Context, d *desk, m tea.Model, options ...tea.ProgramOption) error {
	p := tea.NewProgram(m, append(options, tea.WithContext(ctx))...)
	d.send = p.Send
	watch := func(ctx context.Context) iter.Seq[rosterChange] {
		return func(yield func(rosterChange) bool) {
			for s, err := range d.fleet.Watch(ctx) {
				if !yield(rosterChange{s, err}) {
					return
				}
			}
		}
	}
	broke := make(breakdown, 1)
	d.broke = func(err error) { broke.tell(p, err) }
	d.work.OnPanic = d.broke
	d.under.Go(func() {
		if wait(d.ctx, d.begin) {
			d.pumped(task.Pump(d.ctx, watch, func(changes []rosterChange) { p.Send(rosterMsg(changes)) }))
		}
	})
	d.under.Go(func() {
		d.pumped(task.Pump(d.ctx, d.fleet.Conns, func(links []remote.Conn) { p.Send(linkMsg(links[len(links)-1])) }))
	})
	_, err := p.Run()
	d.close()
	return broke.or(ranOut(ctx, err))
}

// pumped ends the program when a pump's source broke.
func (d *desk) pumped(err error) {
	if err != nil {
		d.broke(err)
	}
}

// desk is the model of a program that shows many sessions, one at a time. Its
// event loop owns it, and the models of the sessions within it.
type desk struct {
	// Static after construction.
	fleet  remote.Server
	look   *look
	mouse  bool
	mux    multiplexer
	editor string
	cwd    string // of new sessions
	first  string // shown at once
	keep   int    // sessions that stay subscribed
	now    func() time.Time
	newID  func() string
	send   func(tea.Msg)
	broke  func(error) // ends the program; any goroutine may call it
	after  func(time.Duration, tea.Msg) tea.Cmd

	// Everything that runs outside of the event loop ends with ctx.
	ctx    context.Context
	cancel context.CancelFunc
	under  sync.WaitGroup
	work   *task.Runner // of the desk itself

	begin chan struct{} // closed when the sessions are to be told of: not before the first one shows
	begun bool

	link  remote.Conn
	lost  string // why there is no news any more
	open  []*opened
	shown *opened // nil: all sessions are on the screen; else the first of open

	// Sessions that are being given up, until they are not followed any more:
	// a client follows a session once at a time.
	ending map[string]<-chan struct{}

	// What all sessions are shown with.
	width, height int
	list          *sessionlist.List
	filter        string
	chosen        string            // session
	place         int               // where that was, for when it is gone
	drafts        map[string]string // by session, of those given up
	panel         panel             // what is asked of the person, or nil
	pager         *pager
	wire          *wire  // on the screen, or nil
	trove         *trove // on the screen while no session is, or nil
	preview       preview
	tour          tour
	attention     attention
	leaving       bool
	word          string
	fading        fading // of it
	ticking       bool

	dirty bool
	view  tea.View
}

// opened is a session that is subscribed.
type opened struct {
	id    string
	model *model
	work  *task.Runner
	gone  bool          // the session was removed
	over  chan struct{} // closed when it is not followed any more
}

// panel is a part of the desk that has the keys while it is there.
type panel interface {
	// key handles a key; it takes the panel away when it is done.
	key(d *desk, key string, msg tea.KeyPressMsg) tea.Cmd
	paste(d *desk, s string)
	// follow looks at a session that has changed.
	follow(d *desk, s *protocol.Summary)
	// hint says what can be done.
	hint(l *look) string
	// Render is at most rows lines, and where the cursor is among them.
	Render(d *desk, width, rows int) ([]string, *tea.Cursor)
}

// Messages of the desk.
type (
	rosterChange struct {
		summary protocol.Summary
		err     error
	}
	rosterMsg []rosterChange
	linkMsg   remote.Conn
	deskMsg   func() tea.Cmd // in the event loop
)

func newDesk(ctx context.Context, f remote.Server, l *look, o Options, now func() time.Time, newID func() string) *desk {
	d := &desk{
		fleet: f, look: l, mouse: o.Mouse, mux: multiplexerOf(o.environ()), editor: editorOf(o.environ()), cwd: o.CWD, keep: sessionsKept,
		now: now, newID: newID, begin: make(chan struct{}), link: remote.Conn{State: remote.Connecting}, list: sessionlist.New(), drafts: map[string]string{},
		ending: map[string]<-chan struct{}{}, width: 80, height: 24, dirty: true,
	}
	d.ctx, d.cancel = context.WithCancel(ctx)
	d.work = task.NewRunner(d.ctx)
	d.after = d.work.After
	d.attention = o.attention()
	if o.Keep > 0 {
		d.keep = o.Keep
	}
	return d
}

// close ends and waits for everything that the desk started.
func (d *desk) close() {
	d.cancel()
	d.work.Close()
	for _, o := range d.open {
		o.work.Close()
	}
	d.under.Wait()
}

// Init asks for what the theme needs to know, and for the session to begin with.
func (d *desk) Init() tea.Cmd {
	if d.first == "" {
		d.watch()
		return d.look.ask()
	}
	return tea.Batch(d.look.ask(), d.enter(d.first))
}

// watch begins to be told of all sessions. A session that is wanted first does
// not wait behind the news of thousands of others.
func (d *desk) watch() {
	if !d.begun {
		d.begun = true
		close(d.begin)
	}
}

// Update takes one message, or hands it on to the session it is for.
func (d *desk) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		d.width, d.height, d.dirty = max(msg.Width, 1), max(msg.Height, 1), true
		if d.shown != nil {
			cmd = d.route(d.shown, msg)
		}
	case tea.BackgroundColorMsg, tea.ColorProfileMsg, tea.ModeReportMsg:
		if d.look.suit(msg) {
			d.redress()
		}
	case tea.FocusMsg, tea.BlurMsg:
		d.attention.focus(msg)
	case rosterMsg:
		cmd = d.changed(msg)
	case linkMsg:
		d.link, d.dirty = remote.Conn(msg), true
		if d.link.State == remote.Connected && d.preview.err != "" {
			d.preview.session = "" // it may go better now
		}
	case task.Message:
		cmd = d.route(msg.To.(*opened), msg.Msg)
	case deskMsg:
		d.dirty = true
		cmd = msg()
	case wireMsg, wireSavedMsg:
		cmd = takeWire(d.wire, &d.dirty, msg)
	case fadeMsg:
		msg.of.woken = false
	case tickMsg:
		d.ticking = false
		d.dirty = true
	default:
		cmd = d.input(msg)
	}
	return d, tea.Batch(cmd, d.tick(), d.peek(), d.fade())
}

// input is what the person does: it is for the session on the screen, but for
// the keys that lead away from it.
func (d *desk) input(msg tea.Msg) tea.Cmd {
	key, pressed := msg.(tea.KeyPressMsg)
	switch {
	case d.shown != nil && pressed:
		switch d.look.keys.At(keymap.Global, key.String()) {
		case keymap.ShowSessions:
			d.watch()
			d.tour = tour{}
			d.leave()
			return nil
		case keymap.NextPending:
			return d.next()
		}
		return d.route(d.shown, msg)
	case d.shown != nil:
		return d.route(d.shown, msg)
	}
	d.dirty = true
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return d.key(key.String(), msg)
	case tea.PasteMsg:
		if d.trove != nil {
			d.trove.paste(msg.Content)
		} else if d.panel != nil {
			d.panel.paste(d, msg.Content)
		}
	case tea.MouseWheelMsg:
		return d.wheel(msg)
	case tea.MouseClickMsg:
		return d.click(msg)
	}
	return nil
}

// redress draws everything anew in what the look wears now.
func (d *desk) redress() {
	d.dirty = true
	if d.pager != nil {
		d.pager.list.Restyle()
	}
	d.preview.redress()
	for _, o := range d.open {
		o.model.redress()
	}
}

// View is the session's screen, or all sessions.
func (d *desk) View() tea.View {
	if d.shown != nil {
		return d.shown.model.View()
	}
	if d.dirty {
		d.view = d.draw()
		d.dirty = false
	}
	return d.view
}

// do works on something outside of the event loop; what it returns runs in it.
func (d *desk) do(work func(context.Context) func() tea.Cmd) tea.Cmd {
	return d.work.Run(func(ctx context.Context) tea.Msg {
		then := work(ctx)
		if ctx.Err() != nil {
			return nil // the program ends
		}
		return deskMsg(then)
	})
}

// ask has a session carry out a command; then runs in the event loop with what
// came of it.
func (d *desk) ask(session string, verb protocol.Verb, data, result any, then func(error) tea.Cmd) tea.Cmd {
	s := d.fleet.Session(session)
	return d.do(func(ctx context.Context) func() tea.Cmd {
		err := s.Do(ctx, verb, data, result)
		return func() tea.Cmd { return then(err) }
	})
}

// tell is a then for commands of which only a refusal shows.
func (d *desk) tell(err error) tea.Cmd {
	if err != nil {
		d.word = remote.ErrorText(err)
	}
	return nil
}
