package tui

import (
	"context"
	"time"

	"agentctl/tui/remote"
	"agentctl/tui/task"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/usage"
)

// model is the one model of the program. The program's event loop owns it.
type model struct {
	// Static after construction.
	session remote.Session
	errands *task.Runner
	look    *look
	now     func() time.Time
	newID   func() string
	after   func(time.Duration, tea.Msg) tea.Cmd            // gives the message later
	exec    func(tea.ExecCommand, tea.ExecCallback) tea.Cmd // gives the terminal away meanwhile
	editor  string                                          // the person's, as a shell reads it
	mouse   bool
	mux     multiplexer // between us and the terminal
	desk    bool        // there are other sessions a key away

	// What the session told.
	link     remote.Conn
	epoch    string
	state    *protocol.State
	clients  map[string]protocol.Client
	caughtUp bool
	out      bool // it will tell no more
	catchup  catchup
	absence  absence

	// What the screen is made of.
	width, height int
	focus         focus
	story         *story
	composer      composer
	rolling       rolling
	outbox        outbox
	queue         queue
	editors       editors
	plan          plan
	approvals     approvals
	pager         *pager
	menu          *menu
	wire          *wire
	interrupt     interrupt
	finder        finder
	seek          *seek // to be gone to once it is there; nil: nothing
	trip          *trip // under way; nil: none
	copying       copying
	completion    completion
	attention     attention
	meter         usage.Tracker
	pastOf        string       // epoch of whose past turns the meter knows
	context       *contextPage // on the screen, or nil
	compaction    compaction
	leaving       bool   // Ctrl-C was pressed once
	hidden        bool   // something else is on the screen
	others        string // what other sessions want
	word          string // a line for the person, until the next key or for a while
	fading        fading // of it

	// Pressing a key before quiet is over starts it anew; then approvals arm.
	quiet   time.Time
	arming  bool // a wake-up for it is under way
	ticking bool // a wake-up for the clocks on the screen is under way

	dirty bool
	view  tea.View
}

type focus uint8

const (
	onComposer focus = iota
	onApproval
	onQueue
	onPlan
	onStory
	focuses // how many there are
)

// Messages of errands.
type (
	armMsg   struct{}
	tickMsg  struct{}
	outMsg   struct{} // the session will tell no more
	olderMsg struct {
		epoch string
		page  *protocol.HistoryResult
		err   error
	}
	meteredMsg struct {
		epoch string
		past  []*protocol.Event
	}
	doneMsg struct {
		err  error
		then func(error) tea.Cmd
	}
)

func newModel(s remote.Session, e *task.Runner, l *look, now func() time.Time, newID func() string) *model {
	l.now = now
	return &model{
		session: s, errands: e, look: l, now: now, newID: newID, after: e.After, exec: tea.Exec, editor: editorOf(nil),
		link:      remote.Conn{State: remote.Connecting},
		state:     &protocol.State{},
		clients:   map[string]protocol.Client{},
		story:     newStory(l),
		composer:  newComposer(),
		outbox:    outbox{look: l},
		queue:     queue{look: l, asking: map[string]string{}},
		editors:   editors{left: map[protocol.Actor]time.Time{}},
		plan:      plan{look: l, asking: map[string]string{}},
		attention: newAttention(terminal{}),
		approvals: approvals{look: l, forms: map[string]*form{}},
		width:     80, height: 24,
		dirty: true,
	}
}

// Init asks for what the theme needs to know. The pump feeds the program.
func (m *model) Init() tea.Cmd { return m.look.ask() }

// Update takes one message. It does no I/O: what it wants done it returns.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 1), max(msg.Height, 1)
		m.dirty = true
	case batch:
		cmd = m.take(msg)
	case tea.KeyPressMsg:
		m.dirty = true
		cmd = m.key(msg)
	case tea.BackgroundColorMsg, tea.ColorProfileMsg, tea.ModeReportMsg:
		if m.look.suit(msg) {
			m.redress()
		}
	case tea.FocusMsg, tea.BlurMsg:
		m.attention.focus(msg)
	case tea.PasteMsg:
		m.dirty = true
		m.paste(msg.Content)
	case tea.MouseWheelMsg:
		m.dirty = true
		m.wheel(msg)
	case tea.MouseClickMsg:
		m.dirty = true
		m.click(msg)
	case armMsg:
		m.arming = false
		cmd = m.arm()
	case tickMsg:
		m.ticking = false
		m.dirty = true
		m.story.tick()
	case olderMsg:
		m.dirty = true
		cmd = m.older(msg)
	case wireMsg, wireSavedMsg:
		cmd = takeWire(m.wire, &m.dirty, msg)
	case meteredMsg:
		m.dirty = true
		m.metered(msg)
	case lookMsg:
		cmd = m.lookOn(msg.wave)
	case editedMsg:
		m.dirty = true
		m.edited(msg)
	case fadeMsg:
		msg.of.woken = false
	case doneMsg:
		m.dirty = true
		cmd = msg.then(msg.err)
	case outMsg:
		m.out = true
		if m.link.State != remote.Offline {
			m.linked(remote.Conn{State: remote.Offline})
		}
	}
	return m, tea.Batch(cmd, m.tick(), m.page(), m.fade())
}

// redress draws everything anew in what the look wears now.
func (m *model) redress() {
	m.dirty = true
	m.story.list.Restyle()
	if m.pager != nil {
		m.pager.list.Restyle()
	}
	if m.wire != nil && m.wire.pager != nil {
		m.wire.pager.list.Restyle()
	}
}

// View is the screen: the one drawn before, unless something changed.
func (m *model) View() tea.View {
	if m.dirty {
		m.view = m.draw()
		m.dirty = false
	}
	return m.view
}

// do carries out a command; then runs in the event loop with what came of it.
func (m *model) do(verb protocol.Verb, data, result any, then func(error) tea.Cmd) tea.Cmd {
	return m.errands.Run(func(ctx context.Context) tea.Msg {
		err := m.session.Do(ctx, verb, data, result)
		if ctx.Err() != nil {
			return nil // the program ends
		}
		return doneMsg{err, then}
	})
}

// tell is a then for commands whose events tell the rest: only a refusal shows.
func (m *model) tell(err error) tea.Cmd {
	if err != nil {
		m.word = remote.ErrorText(err)
	}
	return nil
}

// tick wakes the program once a second while a clock is on the screen.
func (m *model) tick() tea.Cmd {
	if m.ticking || m.hidden || !m.ticks() {
		return nil
	}
	m.ticking = true
	return m.after(time.Second, tickMsg{})
}

// arm lets the request on the screen take keys once it was quiet for long
// enough, and looks again when it was not.
func (m *model) arm() tea.Cmd {
	if m.approvals.request == "" || m.approvals.armed || m.arming {
		return nil
	}
	if wait := m.quiet.Sub(m.now()); wait > 0 {
		m.arming = true
		return m.after(wait, armMsg{})
	}
	m.approvals.armed = true
	m.dirty = true
	return nil
}

// page asks for older turns when the first one shown is on the screen.
func (m *model) page() tea.Cmd {
	if !m.caughtUp || m.link.State != remote.Connected || !m.story.list.AtTop() {
		return nil
	}
	return m.pageNow()
}

// pageNow asks for older turns, unless they are on their way.
func (m *model) pageNow() tea.Cmd {
	turns := historyPage
	if m.trip != nil {
		turns = pageMost
	}
	ask, ok := m.story.page(turns)
	if !ok {
		return nil
	}
	epoch := m.epoch
	return m.errands.Run(func(ctx context.Context) tea.Msg {
		page := new(protocol.HistoryResult)
		err := m.session.Do(ctx, protocol.DoHistory, ask, page)
		if ctx.Err() != nil {
			return nil
		}
		return olderMsg{epoch, page, err}
	})
}

func (m *model) older(msg olderMsg) tea.Cmd {
	if msg.epoch != m.epoch || msg.page.Epoch != "" && msg.page.Epoch != m.epoch {
		return nil // the log is another one by now
	}
	err := msg.err
	if err == nil {
		m.composer.recall.older(msg.page, m.link.By)
		err = m.story.older(msg.page)
	}
	if err != nil {
		m.story.loading = false
		m.story.before, m.trip = 0, nil
		m.word = "older turns: " + remote.ErrorText(err)
	}
	if m.finder.paged {
		m.finder.paged = false
		return m.lookOn(m.finder.wave)
	}
	return m.travel(m.trip)
}
