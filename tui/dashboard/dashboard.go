package dashboard

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/drafts"
	"agentctl/tui/palette"
	"agentctl/tui/remote"
	"agentctl/tui/review"
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
	Drafts    *drafts.Store // keeps the form of a new session

	// Agent returns the agent proposed for new sessions of the home server, or "" for the server's
	// default. Nil: that.
	Agent func() string
}

// OpenSessions gives access to the sessions that the program holds.
type OpenSessions interface {
	// IsOpen reports whether the program holds the transcript of a session.
	IsOpen(session string) bool

	// Transcript returns the transcript of an open session that is subscribed, or nil.
	Transcript(session string) *transcriptview.View

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

	servers  servers
	list     *sessionlist.List
	selected selection
	filter   string
	marks    marks
	branches branches
	preview  preview
	requests *requester
	covered  bool // a session covers the screen
}

// selection identifies the selected session. The index is used when that session is gone.
type selection struct {
	session string
	index   int
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

	// BackIntent returns to the session that was shown last.
	BackIntent struct{}
)

// Messages that a Dashboard handles, and its internal intents.
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

	// doneFunc runs in the event loop after a task. It returns a command and an intent, or nil for
	// either.
	doneFunc func() (tea.Cmd, ui.Intent)

	// closeIntent closes an overlay. The dashboard returns the intent then, if any.
	closeIntent struct {
		overlay ui.Overlay
		then    ui.Intent
	}

	// leaveIntent reports that the user left a request without deciding it.
	leaveIntent struct{}

	// reconnectIntent skips the delay before the next connection attempt.
	reconnectIntent struct{}
)

// New returns a dashboard with an empty session list.
func New(c Config) *Dashboard {
	d := &Dashboard{
		Config: c, servers: newServers(c.Server), list: sessionlist.New(),
		marks:    marks{sessions: map[string]bool{}},
		branches: branches{local: c.Local, known: map[string]branch{}},
	}
	d.screen = ui.NewScreen(ui.ScreenConfig{
		Styles: c.Styles, Now: c.Now,
		After:     func(after time.Duration, msg tea.Msg) tea.Cmd { return d.After(after, msg) },
		LeaveText: " ctrl+c again leaves · the sessions go on",
		Palette:   d.newPalette, Handle: d.handleIntent, Input: d.handleInput,
	})
	d.overlays, d.status, d.canvas = &d.screen.Overlays, &d.screen.Status, &d.screen.Canvas
	d.requests = &requester{server: c.Server, tasks: c.Tasks, status: d.status, refuse: d.servers.refuse}
	d.requests.left = leftRequests{}
	d.requests.answers, d.requests.of = ui.NewAnswers(c.Now), d.servers.of
	if d.servers.several != nil {
		d.list.SetServers(d.servers.of)
	}
	return d
}

// Update handles a message. It returns the command to run and the intent for the program; both may
// be nil.
func (d *Dashboard) Update(msg tea.Msg) (tea.Cmd, ui.Intent) {
	cmd, intent := d.update(msg)
	if intent == nil && len(d.marks.pending) > 0 {
		next, opened := d.decideNext()
		cmd, intent = tea.Batch(cmd, next), opened
	}
	intent = d.checkOpen(intent)
	return tea.Batch(cmd, d.screen.Tick(!d.covered && d.showsClock()), d.peek(), d.loadDraft(),
		d.screen.Expire(false), d.readBranches()), intent
}

func (d *Dashboard) update(msg tea.Msg) (cmd tea.Cmd, intent ui.Intent) {
	d.screen.Update(msg)
	switch msg := msg.(type) {
	case tea.WindowSizeMsg, ui.TickMsg, ui.LeaveTimeoutMsg, ui.StatusTimeoutMsg:
		return nil, nil
	case SummariesMsg:
		d.applySummaries(msg)
	case ConnMsg:
		if d.servers.home.State != remote.Connected {
			d.requests.answers.Restart()
		}
		d.servers.setHome(remote.Conn(msg), d.Now())
		if d.servers.home.State == remote.Connected && d.preview.err != "" {
			d.preview.session = "" // retry the peek
		}
	case ServerConnsMsg:
		d.setServerConns(msg)
	case doneFunc:
		var more tea.Cmd
		cmd, intent = msg()
		more, intent = d.handleIntent(intent)
		cmd = tea.Batch(cmd, more)
	case tea.FocusMsg:
		d.branches.forget()
	case ui.RestyleMsg:
		d.preview.restyle()
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
	case closeIntent:
		d.overlays.Remove(i.overlay)
		return d.handleIntent(i.then)
	case reconnectIntent:
		return d.reconnect(), nil
	case palette.Command:
		return d.Act(i.Action)
	case review.CopyIntent:
		return d.Clipboard.Copy(i.Text), nil
	case ui.EditIntent:
		return d.editText(i), nil
	case leaveIntent:
		d.marks.pending = nil
		return nil, nil
	case OpenIntent:
		d.marks.pending = nil
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
func (d *Dashboard) List() *sessionlist.List { return d.list }

// View returns the screen. It redraws only after a change.
func (d *Dashboard) View() tea.View {
	return d.screen.View(func() string { return "agentctl" }, d.draw)
}

// showsClock reports whether the screen shows a time that changes each second.
func (d *Dashboard) showsClock() bool {
	return d.list.CountWaiting("") > 0 || d.servers.home.State == remote.Reconnecting || d.requests.answers.Waiting()
}

// applySummaries adds summaries to the list and passes them to the overlays.
func (d *Dashboard) applySummaries(updates SummariesMsg) {
	for i := range updates {
		u := &updates[i]
		if u.Err != nil {
			d.servers.listError = remote.ErrorText(u.Err)
			continue
		}
		d.list.Put(u.Summary)
		if u.Summary.Deleted {
			delete(d.marks.sessions, u.Summary.Session)
			delete(d.branches.known, u.Summary.Session)
		}
		_, _, _ = d.overlays.Update(&u.Summary)
		d.requests.left.update(&u.Summary)
	}
}
