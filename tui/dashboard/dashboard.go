package dashboard

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/palette"
	"agentctl/tui/remote"
	"agentctl/tui/request"
	"agentctl/tui/sessionlist"
	"agentctl/tui/task"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// Config holds the dependencies and settings of a Dashboard.
type Config struct {
	Server    remote.Server
	Tasks     *task.Runner
	Styles    *ui.Styles
	Now       func() time.Time
	NewID     func() string                                   // returns a new client message ID
	After     func(time.Duration, tea.Msg) tea.Cmd            // returns a command that sends a message after a delay
	Exec      func(tea.ExecCommand, tea.ExecCallback) tea.Cmd // returns a command that runs a program in the terminal
	Editor    string                                          // command line of the user's editor
	Clipboard ui.Clipboard
	CWD       string // default directory of new sessions
	Home      string // the user's home directory on the server's file system, or ""
	Local     bool   // the home server has the file system of this machine
	Open      OpenSessions

	// Agent returns the agent proposed for new sessions of the home server, or "" for the server's
	// default. Nil: that.
	Agent func() string

	Start Start // while there is no session

	// Worktree makes a git worktree of the repository of a directory, for a new session with an agent.
	// Nil: the home server has another file system.
	Worktree func(ctx context.Context, dir, agent string) (Worktree, error)
}

// OpenSessions gives access to the sessions that the program holds.
type OpenSessions interface {
	// IsOpen reports whether the program holds the transcript of a session.
	IsOpen(session string) bool

	// Transcript returns the transcript and the state of an open session that is subscribed, or nil.
	Transcript(session string) (*transcriptview.View, *protocol.State)

	// KeepText adds a text to the unsent message of a session.
	KeepText(session, text string)

	// Closing returns a channel that is closed when the program has unsubscribed from a session
	// that it closes or detaches, or nil for any other session. A client must not subscribe to a
	// session twice at the same time.
	Closing(session string) <-chan struct{}
}

// Dashboard is the screen that lists all sessions of a server. It is not safe for concurrent use:
// only the program's event loop may call it.
type Dashboard struct {
	Config
	screen   *ui.Screen
	overlays *ui.Stack  // of screen
	status   *ui.Status // of screen
	canvas   *ui.Canvas // of screen

	servers   *servers
	requests  *requester
	table     *table
	preview   *preview
	bulk      *bulk
	walk      *walk
	approvals *approvals
	branches  *branches
	creator   *creator
	covered   bool // a session covers the screen
}

// Intents that a Dashboard returns to the program.
type (
	// OpenIntent opens a session.
	OpenIntent struct{ Session string }

	// OpenHitIntent opens a session at a search hit.
	OpenHitIntent struct {
		Hit  protocol.Hit
		Text string
	}

	// WalkEndedIntent ends the walk through the requests of sessions after the last one, or where the
	// user left it.
	WalkEndedIntent struct {
		Left bool // the user left it
		Next bool // the key for what needs the user next skipped the last one
	}

	// BackIntent returns to the session that was shown last.
	BackIntent struct{}
)

// Messages that a Dashboard handles, and its internal intent.
type (
	// SummariesMsg holds the summaries received in one frame.
	SummariesMsg []SummaryUpdate

	// SummaryUpdate is a summary, or the error that ends the stream of summaries.
	SummaryUpdate struct {
		Summary protocol.Summary
		Err     error
	}

	// ConnMsg is a new state of the connection.
	ConnMsg remote.Conn

	// leaveIntent reports that the user left a request without deciding it.
	leaveIntent struct{}
)

// New returns a dashboard with an empty session list.
func New(c Config) *Dashboard {
	d := &Dashboard{
		Config: c, servers: newServers(c.Server), branches: &branches{local: c.Local, known: map[string]branch{}},
	}
	d.screen = ui.NewScreen(ui.ScreenConfig{
		Styles: c.Styles, Now: c.Now, Clock: d.showsClock, Ages: func() bool { return !d.covered && d.table.list.Len() > 0 },
		After: func(after time.Duration, msg tea.Msg) tea.Cmd { return d.After(after, msg) },
		Exec:  c.Exec, Tasks: c.Tasks, Editor: c.Editor, Clipboard: c.Clipboard,
		LeaveText: " ctrl+c again leaves · the sessions go on",
		Palette:   d.newPalette, Handle: d.handleIntent, Input: d.handleInput,
		Pressed: func() { d.approvals.touch() },
	})
	d.overlays, d.status, d.canvas = &d.screen.Overlays, &d.screen.Status, &d.screen.Canvas
	d.requests = &requester{
		Runner: request.Runner{Tasks: c.Tasks, Status: d.status, Answers: ui.NewAnswers(c.Now)},
		server: c.Server, styles: c.Styles, overlays: d.overlays, of: d.servers.of, refuse: d.servers.refuse,
	}
	d.table = &table{
		styles: c.Styles, servers: d.servers, branches: d.branches, home: c.Home, list: sessionlist.New(),
		marked: map[string]bool{},
	}
	if d.servers.several != nil {
		d.table.list.ServerOf = d.servers.of
	}
	d.preview = &preview{
		styles: c.Styles, requests: d.requests, open: c.Open, now: c.Now,
		end: previewEnd{styles: c.Styles, overlays: d.overlays},
	}
	d.screen.Parts = []ui.Timed{d.preview}
	d.bulk = &bulk{table: d.table, servers: d.servers, requests: d.requests, newID: c.NewID}
	d.walk = &walk{list: d.table.list, servers: d.servers}
	d.creator = &creator{requests: d.requests, servers: d.servers, cwd: c.CWD, newID: c.NewID, propose: c.Agent}
	d.approvals = &approvals{
		requester: d.requests, list: d.table.list, walk: d.walk, open: c.Open, canvas: d.canvas,
		left: map[string]*approvalDialog{},
	}
	return d
}

// Update handles a message. It returns the command to run and the intent for the program; both may
// be nil.
func (d *Dashboard) Update(msg tea.Msg) (tea.Cmd, ui.Intent) {
	cmd, intent := d.update(msg)
	if intent == nil && d.walk.active() {
		next, opened := d.decideNext()
		cmd, intent = tea.Batch(cmd, next), opened
	}
	intent = d.checkOpen(intent)
	return d.refresh(cmd), intent
}

// refresh adds the commands that keep the screen up to date after a message to its command.
func (d *Dashboard) refresh(cmd tea.Cmd) tea.Cmd {
	var branches tea.Cmd
	if d.branches.local && !d.covered && d.canvas.Dirty {
		branches = d.branches.read(d.table.visible(d.layout().table), d.servers, d.requests)
	}
	selected, _ := d.table.current()
	shown := d.preview.shown(d.canvas.Width, d.canvas.Height)
	return tea.Batch(cmd, d.preview.update(&selected, shown, d.covered), branches, d.screen.Wait())
}

// showsClock reports whether the screen shows a time that changes each second.
func (d *Dashboard) showsClock() bool {
	list := d.table.list
	return !d.covered && (list.Count(sessionlist.NeedsYou) > 0 || list.Count(sessionlist.Running) > 0 ||
		d.servers.home.conn.State == remote.Reconnecting || d.requests.Answers.Waiting())
}

func (d *Dashboard) update(msg tea.Msg) (cmd tea.Cmd, intent ui.Intent) {
	timed := d.screen.Update(msg)
	switch msg := msg.(type) {
	case tea.WindowSizeMsg, ui.TimerMsg:
		return timed, nil
	case SummariesMsg:
		d.applySummaries(msg)
	case ConnMsg:
		if d.servers.home.conn.State != remote.Connected {
			d.requests.Answers.Restart()
		}
		d.servers.home.set(remote.Conn(msg), d.Now())
		if d.servers.home.conn.State == remote.Connected {
			d.preview.retry()
		}
	case ServerConnsMsg:
		for _, c := range msg {
			d.servers.states[c.Server].set(c.Conn, d.Now())
			if c.Conn.State == remote.Connected {
				d.preview.retry()
			}
		}
	case request.DoneMsg:
		cmd = msg.Then(msg.Err)
		then := d.requests.intent
		d.requests.intent = nil
		more, forProgram := d.handleIntent(then)
		cmd, intent = tea.Batch(cmd, more), forProgram
	case tea.FocusMsg:
		d.branches.forget()
	case ui.RestyleMsg:
		if view := d.preview.content.view; view != nil {
			view.List.Restyle()
		}
		_, _, _ = d.overlays.Update(msg)
	default:
		return d.screen.Route(msg)
	}
	d.canvas.Dirty = true
	return cmd, intent
}

// handleIntent carries out the internal intents of overlays. It returns all others to the program.
func (d *Dashboard) handleIntent(intent ui.Intent) (tea.Cmd, ui.Intent) {
	switch i := intent.(type) {
	case palette.Command:
		return d.Act(i.Action)
	case leaveIntent:
		if d.walk.active() {
			d.walk.stop()
			return nil, WalkEndedIntent{Left: true}
		}
		return nil, nil
	case OpenIntent:
		d.walk.stop()
	}
	return nil, intent
}

// SetCovered sets whether a session covers the screen.
func (d *Dashboard) SetCovered(covered bool) {
	d.covered = covered
	d.canvas.Dirty = true
}

// ShowStatus shows a status message. The next key press or a timeout clears it.
func (d *Dashboard) ShowStatus(text string) {
	d.status.Text = text
	d.canvas.Dirty = true
}

// Invalidate forces a redraw, for example after a change of an open session's transcript.
func (d *Dashboard) Invalidate() { d.canvas.Dirty = true }

// List returns the session list. The dashboard owns it.
func (d *Dashboard) List() *sessionlist.List { return d.table.list }

// View returns the screen. It redraws only after a change.
func (d *Dashboard) View() tea.View {
	return d.screen.View(func() string { return "agentctl" }, d.draw)
}

// applySummaries adds summaries to the list and passes them to the overlays.
func (d *Dashboard) applySummaries(updates SummariesMsg) {
	for i := range updates {
		u := &updates[i]
		if u.Err != nil {
			d.servers.listError = remote.ErrorText(u.Err)
			continue
		}
		d.table.list.Put(u.Summary)
		if u.Summary.Deleted {
			delete(d.table.marked, u.Summary.Session)
			delete(d.branches.known, u.Summary.Session)
		}
		_, _, _ = d.overlays.Update(&u.Summary)
		d.approvals.update(&u.Summary)
	}
}

// Selected returns the ID of the selected session, or "".
func (d *Dashboard) Selected() string {
	s, _ := d.table.current()
	return s.Session
}

// Select selects a session.
func (d *Dashboard) Select(session string) {
	d.table.selected.session = session
	d.table.selectedIndex()
	d.canvas.Dirty = true
}

// StopPreview cancels the running peek of the preview. It returns a channel that is closed when the
// latest peek has ended, or nil if there was none.
func (d *Dashboard) StopPreview() <-chan struct{} {
	d.preview.stop()
	return d.preview.done
}

// ServerOf returns the name of a session's server, or "" if there is only one.
func (d *Dashboard) ServerOf(session string) string { return d.servers.of(session) }

// OtherServer returns the name of a session's server, or "" if that is home.
func (d *Dashboard) OtherServer(session string) string { return d.servers.other(session) }

// Reachable reports whether the server of a session is connected, or the only one.
func (d *Dashboard) Reachable(session string) bool { return d.servers.refuse(session) == nil }

// checkOpen returns an intent unless it opens a session that cannot be shown: its server is lost,
// and the session is not open already.
func (d *Dashboard) checkOpen(intent ui.Intent) ui.Intent {
	var session string
	switch i := intent.(type) {
	case OpenIntent:
		session = i.Session
	case SplitIntent:
		session = i.Session
	case OpenHitIntent:
		session = i.Hit.Session
	default:
		return intent
	}
	err := d.servers.refuse(session)
	if err == nil || d.Open.IsOpen(session) {
		return intent
	}
	d.status.Text = err.Error()
	d.canvas.Dirty = true
	return nil
}

// reconnect skips the delay before the next connection attempt of all servers.
func (d *Dashboard) reconnect() tea.Cmd {
	retry := d.servers.retry()
	if retry == nil {
		d.status.Text = string(d.servers.home.conn.State)
		return nil
	}
	return d.Tasks.Run(func(context.Context) tea.Msg {
		retry()
		return nil
	})
}
