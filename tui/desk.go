package tui

import (
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/transcript"
)

// Fleet is the sessions of a server as a client sees them.
type Fleet interface {
	// Watch yields a summary of every session, then of each that changes; one
	// that is gone is Deleted. It ends when ctx does, or with an error that it
	// yields last. It is called once.
	Watch(ctx context.Context) iter.Seq2[protocol.Summary, error]

	// Session is one of them. It is followed while its Updates are drawn.
	Session(id string) Session
}

// sessionsKept is how many sessions stay subscribed: the one on the screen and
// those shown before it.
const sessionsKept = 3

// Desk shows the sessions of a fleet, and any of them, until the person leaves
// or ctx ends. The terminal is left as it was, and the sessions go on.
func Desk(ctx context.Context, f Fleet, o Options) error {
	look, err := o.look()
	if err != nil {
		return err
	}
	d := newDesk(ctx, f, look, o, time.Now, rand.Text)
	signals := listen()
	defer signals.stop()
	return runDesk(ctx, d, d, append(o.program(), signals.option)...)
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
	d.under.Go(func() { pump(d.ctx, watch, func(changes []rosterChange) { p.Send(rosterMsg(changes)) }) })
	_, err := p.Run()
	d.close()
	return ranOut(ctx, err)
}

// desk is the model of a program that shows many sessions, one at a time. Its
// event loop owns it, and the models of the sessions within it.
type desk struct {
	// Static after construction.
	fleet  Fleet
	look   *look
	mouse  bool
	editor string
	now    func() time.Time
	newID  func() string
	send   func(tea.Msg)

	// Everything that runs outside of the event loop ends with ctx.
	ctx    context.Context
	cancel context.CancelFunc
	under  sync.WaitGroup
	work   *errands // of the desk itself

	width, height int
	roster        roster
	drafts        map[string]string // by session, of those given up
	open          []*opened         // the one shown last comes first
	shown         *opened           // nil: the roster is on the screen
	wire          *wire             // over the roster
	attention     attention
	leaving       bool
	word          string

	dirty bool
	view  tea.View
}

// opened is a session that is subscribed.
type opened struct {
	id    string
	model *model
	work  *errands
}

// Messages of the desk.
type (
	rosterChange struct {
		summary protocol.Summary
		err     error
	}
	rosterMsg []rosterChange
	routed    struct { // to the model of one session
		to  *opened
		msg tea.Msg
	}
)

func newDesk(ctx context.Context, f Fleet, l *look, o Options, now func() time.Time, newID func() string) *desk {
	d := &desk{fleet: f, look: l, mouse: o.Mouse, editor: editorOf(o.environ()), drafts: map[string]string{}, now: now, newID: newID, width: 80, height: 24, dirty: true}
	d.ctx, d.cancel = context.WithCancel(ctx)
	d.work = newErrands(d.ctx)
	d.roster = newRoster(d.look)
	d.attention = o.attention()
	return d
}

// close ends and waits for everything that the desk started.
func (d *desk) close() {
	d.cancel()
	d.work.close()
	for _, o := range d.open {
		o.work.close()
	}
	d.under.Wait()
}

// Init asks for what the theme needs to know.
func (d *desk) Init() tea.Cmd { return d.look.ask() }

// Update takes one message, or hands it on to the session it is for.
func (d *desk) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		d.width, d.height, d.dirty = max(msg.Width, 1), max(msg.Height, 1), true
	case tea.BackgroundColorMsg, tea.ColorProfileMsg:
		if d.look.suit(msg) {
			d.dirty = true
			for _, o := range d.open {
				o.model.redress()
			}
		}
		return d, nil
	case tea.FocusMsg, tea.BlurMsg:
		d.attention.focus(msg)
		return d, nil
	case rosterMsg:
		return d, d.changed(msg)
	case routed:
		return d, d.route(msg.to, msg.msg)
	case wireMsg, wireSavedMsg:
		if d.wire != nil && d.wire.owns(msg) {
			return d, d.wired(msg)
		}
	case tea.KeyPressMsg:
		if key := msg.String(); d.shown == nil {
			return d, d.key(key, msg)
		} else if d.look.keys.at(everywhere, key) == doSessions {
			d.leave()
			return d, nil
		}
	}
	if d.shown != nil {
		return d, d.route(d.shown, msg)
	}
	return d, nil
}

// View is the session's screen, or the roster.
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

func (d *desk) draw() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.ReportFocus = true
	v.WindowTitle = "agentctl"
	if n := d.roster.waiting(""); n > 0 {
		v.WindowTitle += " · " + fmt.Sprint(n) + " waiting"
	}
	if d.wire != nil {
		lines, cursor := d.wire.Render(d.width, d.height)
		v.SetContent(frameOf(lines, d.width, d.height))
		v.Cursor = cursor
		return v
	}
	foot := d.look.dim.Render(fit(" ↑↓ enter opens · letters narrow down · ctrl+c twice leaves", d.width))
	switch {
	case d.leaving:
		foot = d.look.warn.Render(fit(" press ctrl+c again to leave; the sessions go on", d.width))
	case d.word != "":
		foot = d.look.bad.Render(fit(" "+oneLine(transcript.Clean(d.word)), d.width))
	}
	lines := d.roster.Render(d.width, max(1, d.height-1))
	if d.height > 1 {
		lines = append(lines, foot)
	}
	v.SetContent(frameOf(lines, d.width, d.height))
	return v
}

// changed takes news of sessions; who waits elsewhere shows on every screen.
func (d *desk) changed(changes []rosterChange) tea.Cmd {
	var news []protocol.Summary
	var calls []tea.Cmd
	for _, c := range changes {
		if c.err != nil {
			d.word = string(Offline) + ": " + errText(c.err)
			continue
		}
		if c.summary.Deleted {
			delete(d.drafts, c.summary.Session)
		}
		news = append(news, c.summary)
		calls = append(calls, d.attention.glance(&c.summary))
	}
	d.roster.take(news)
	d.dirty = true
	d.tellOthers()
	return tea.Batch(calls...)
}

func (d *desk) tellOthers() {
	if d.shown == nil {
		return
	}
	others := ""
	if n := d.roster.waiting(d.shown.id); n > 0 {
		others = count(n, "other") + " waiting"
	}
	if m := d.shown.model; m.others != others {
		m.others, m.dirty = others, true
	}
}

// key handles a key while the roster is on the screen.
func (d *desk) key(key string, msg tea.KeyPressMsg) tea.Cmd {
	d.dirty = true
	if key == "ctrl+c" {
		if d.leaving {
			return tea.Quit
		}
		d.leaving = true
		return nil
	}
	d.leaving = false
	switch {
	case d.wire != nil:
		return d.wireKey(key, msg)
	case d.look.keys.at(everywhere, key) == doWire:
		return d.showWire()
	}
	page := max(1, d.height-2)
	switch at := d.roster.at(); key {
	case "up":
		d.roster.choose(at - 1)
	case "down":
		d.roster.choose(at + 1)
	case "pgup":
		d.roster.choose(at - page)
	case "pgdown":
		d.roster.choose(at + page)
	case "home":
		d.roster.choose(0)
	case "end":
		d.roster.choose(len(d.roster.order) - 1)
	case "enter", "right":
		if at >= 0 {
			return d.enter(d.roster.order[at])
		}
	case "esc":
		d.roster.narrow("")
	case "backspace":
		if f := []rune(d.roster.filter); len(f) > 0 {
			d.roster.narrow(string(f[:len(f)-1]))
		}
	default:
		d.roster.narrow(d.roster.filter + oneLine(transcript.Clean(msg.Text)))
	}
	return nil
}
