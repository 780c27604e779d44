package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/remote"
	"agentctl/tui/sessionlist"
	"agentctl/tui/task"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// Config is what a dashboard needs.
type Config struct {
	Server    remote.Server
	Tasks     *task.Runner
	Styles    *ui.Styles
	Now       func() time.Time
	NewID     func() string                        // of messages
	After     func(time.Duration, tea.Msg) tea.Cmd // sends the dashboard a message later
	Clipboard ui.Clipboard
	CWD       string // of new sessions
	Open      OpenSessions
}

// OpenSessions knows the sessions that the program is subscribed to.
type OpenSessions interface {
	// Transcript returns the transcript of an open session, or nil.
	Transcript(session string) *transcriptview.View

	// Closing returns a channel that is closed when a session that was closed is no longer subscribed; nil
	// when there is none. A client subscribes to a session once at a time.
	Closing(session string) <-chan struct{}
}

// Dashboard shows all sessions of a server. The event loop of the program owns it.
type Dashboard struct {
	Config
	conn        remote.Conn
	listError   string // why no more summaries come, or ""
	list        *sessionlist.List
	selected    selection
	filter      string
	overlays    ui.Stack
	preview     preview
	requests    *requester
	status      *ui.Status
	quitPending bool // ctrl+c was pressed once
	ticking     bool // a clockMsg is on its way
	covered     bool // a session is on the screen
	canvas      ui.Canvas
}

// selection is the selected session and its index, for when it is gone.
type selection struct {
	session string
	index   int
}

// What a dashboard wants of the program.
type (
	// OpenIntent shows a session.
	OpenIntent struct{ Session string }

	// OpenHitIntent shows a session at a hit of a search.
	OpenHitIntent struct {
		Hit  protocol.Hit
		Text string
	}

	// BackIntent shows the last session again.
	BackIntent struct{}

	// NextIntent shows the next session that needs the user.
	NextIntent struct{}
)

// Messages of a dashboard.
type (
	// SummariesMsg brings the summaries of one frame.
	SummariesMsg []SummaryUpdate

	// SummaryUpdate is a summary, or the error that ends them.
	SummaryUpdate struct {
		Summary protocol.Summary
		Err     error
	}

	// ConnMsg brings the state of the connection.
	ConnMsg remote.Conn

	// doneFunc runs in the event loop when a task has ended. It returns a command and an intent, or nil.
	doneFunc func() (tea.Cmd, any)

	// closeIntent closes an overlay, then does what another intent wants.
	closeIntent struct {
		overlay ui.Overlay
		then    any
	}

	// clockMsg redraws the times that pass.
	clockMsg struct{}

	// reconnectIntent tries to connect at once.
	reconnectIntent struct{}
)

// New returns a dashboard without sessions.
func New(c Config) *Dashboard {
	status := new(ui.Status)
	return &Dashboard{
		Config: c, conn: remote.Conn{State: remote.Connecting}, list: sessionlist.New(), status: status,
		requests: &requester{server: c.Server, tasks: c.Tasks, status: status},
		canvas:   ui.NewCanvas(),
	}
}

// Update handles a message. It returns the command to run and what it wants of the program, or nil.
func (d *Dashboard) Update(msg tea.Msg) (tea.Cmd, any) {
	cmd, intent := d.update(msg)
	return tea.Batch(cmd, d.tick(), d.peek(), d.expireStatus()), intent
}

func (d *Dashboard) update(msg tea.Msg) (cmd tea.Cmd, intent any) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		d.canvas.Resize(msg)
	case SummariesMsg:
		cmd, intent = d.applySummaries(msg)
	case ConnMsg:
		d.conn = remote.Conn(msg)
		if d.conn.State == remote.Connected && d.preview.err != "" {
			d.preview.session = "" // try again
		}
	case doneFunc:
		var more tea.Cmd
		cmd, intent = msg()
		more, intent = d.handleIntent(intent)
		cmd = tea.Batch(cmd, more)
	case ui.StatusTimeoutMsg:
		msg.Wake()
		return nil, nil
	case clockMsg:
		d.ticking = false
	case ui.RestyleMsg:
		d.preview.restyle()
		_, _, _ = d.overlays.Update(msg)
	default:
		return d.route(msg)
	}
	d.canvas.Dirty = true
	return cmd, intent
}

// route gives a message to the overlays, and input that they do not take to the list.
func (d *Dashboard) route(msg tea.Msg) (tea.Cmd, any) {
	d.canvas.Dirty = d.canvas.Dirty || ui.IsInput(msg) || d.overlays.Top() != nil
	if press, ok := msg.(tea.KeyPressMsg); ok {
		if press.String() == "ctrl+c" {
			if d.quitPending {
				return tea.Quit, nil
			}
			d.quitPending = true
			return nil, nil
		}
		d.quitPending = false
		d.status.Clear()
	}
	cmd, intents, pass := d.overlays.Update(msg)
	var more tea.Cmd
	var intent any
	switch {
	case len(intents) > 0:
		more, intent = d.handleIntent(intents[0])
	case pass:
		more, intent = d.handleInput(msg)
	}
	return tea.Batch(cmd, more), intent
}

// handleIntent does what an overlay wants of the dashboard. Other intents are for the program.
func (d *Dashboard) handleIntent(intent any) (tea.Cmd, any) {
	switch i := intent.(type) {
	case closeIntent:
		d.overlays.Remove(i.overlay)
		return nil, i.then
	case reconnectIntent:
		return d.reconnect(), nil
	}
	return nil, intent
}

// SetCovered tells the dashboard whether a session covers the screen.
func (d *Dashboard) SetCovered(covered bool) {
	d.covered = covered
	d.canvas.Dirty = true
}

// ShowStatus shows a status message.
func (d *Dashboard) ShowStatus(text string) {
	d.status.Text = text
	d.canvas.Dirty = true
}

// Invalidate notes that something outside has changed, as the transcript of an open session.
func (d *Dashboard) Invalidate() { d.canvas.Dirty = true }

// List returns the list of sessions.
func (d *Dashboard) List() *sessionlist.List { return d.list }

// View returns the screen. It is drawn only when something has changed.
func (d *Dashboard) View() tea.View { return d.canvas.View(d.draw) }

// tick wakes the program once a second while the dashboard shows a time that passes.
func (d *Dashboard) tick() tea.Cmd {
	if d.ticking || d.covered || d.list.CountWaiting("") == 0 && d.conn.State != remote.Reconnecting {
		return nil
	}
	d.ticking = true
	return d.After(time.Second, clockMsg{})
}

func (d *Dashboard) expireStatus() tea.Cmd {
	own, expired := d.status.Expire(d.Now(), d.After)
	overlay, overlayExpired := d.overlays.Expire(d.Now(), d.After)
	d.canvas.Dirty = d.canvas.Dirty || expired || overlayExpired
	return tea.Batch(own, overlay)
}

// applySummaries takes summaries.
func (d *Dashboard) applySummaries(updates SummariesMsg) (cmd tea.Cmd, intent any) {
	for i := range updates {
		u := &updates[i]
		if u.Err != nil {
			d.listError = remote.ErrorText(u.Err)
			continue
		}
		d.list.Put(u.Summary)
		_, _, _ = d.overlays.Update(&u.Summary)
	}
	return nil, nil
}
