package sessionview

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/attachment"
	"agentctl/internal/download"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/request"
	"agentctl/tui/sessionview/decision"
	"agentctl/tui/sessionview/files"
	"agentctl/tui/sessionview/gitstatus"
	"agentctl/tui/sessionview/images"
	"agentctl/tui/sessionview/input"
	"agentctl/tui/sessionview/pane"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/sessionview/queue"
	"agentctl/tui/sessionview/replica"
	"agentctl/tui/sessionview/sidecolumn"
	"agentctl/tui/sessionview/statusline"
	"agentctl/tui/task"
	"agentctl/tui/transcript"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// Config holds the session of a view and its dependencies.
type Config struct {
	Session   remote.Session
	Tasks     *task.Runner // used by this view only
	Styles    *ui.Styles
	Clipboard ui.Clipboard
	Editor    string // command line of the user's editor
	Viewer    *download.Viewer
	Sessions  bool              // the program shows other sessions too
	Beside    func() bool       // another session is on the screen; nil: never
	Env       map[string]string // the environment of the terminal
	Host

	Side sidecolumn.Options

	Now   func() time.Time
	NewID func() string // returns a new message ID

	// After returns a command that delivers a message to the view after a delay.
	After func(time.Duration, tea.Msg) tea.Cmd

	// Exec returns a command that runs another program in the terminal.
	Exec func(tea.ExecCommand, tea.ExecCallback) tea.Cmd

	Input input.Options
}

// Host is where a session runs.
type Host struct {
	Local  bool   // its directory is on this machine
	Server string // name of its server, if the program shows several; else ""
}

// View shows one session and lets the user control it. It must be used only by the event loop of
// the program.
type View struct {
	Config
	replica  *replica.Session
	commands *request.Sender
	base     panel.Base // of the parts

	screen   *ui.Screen
	overlays *ui.Stack  // of screen
	status   *ui.Status // of screen
	canvas   *ui.Canvas // of screen
	intent   ui.Intent  // for the program, returned by Update

	transcript *pane.Pane
	input      *input.Input
	panels     panels
	files      *files.Files
	statusLine *statusline.Line

	focus   focus
	actions panel.Actions
	hidden  bool // not on the screen, or shown as a preview
}

// UpdatesEnded reports to a view that no more updates will arrive.
type UpdatesEnded struct{}

const (
	leaveText       = " ctrl+c again leaves · the session continues" // after the first ctrl+c
	replayLeaveText = " ctrl+c again leaves"                         // of a recording
)

// New returns a view that has not received any updates.
func New(c Config) *View {
	v := &View{Config: c, replica: replica.New()}
	after := func(d time.Duration, msg tea.Msg) tea.Cmd { return v.After(d, msg) }
	v.screen = ui.NewScreen(ui.ScreenConfig{
		Styles: c.Styles, Now: c.Now, After: after, LeaveText: leaveText,
		Exec: c.Exec, Tasks: c.Tasks, Editor: c.Editor, Clipboard: c.Clipboard,
		Clock: v.showsClock, Tick: func() { v.transcript.View.Tick() },
		KeepStatus: func() bool { return v.transcript.Jumping() },
		Palette:    v.newPalette, Anywhere: v.actAnywhere,
		Pressed: func() { // ends what lasts until the next key
			v.transcript.CancelJump()
			v.panels.decision.Touch()
		},
		Handle: func(i ui.Intent) (tea.Cmd, ui.Intent) { return v.handleIntent(i), nil },
		Input:  func(msg tea.Msg) (tea.Cmd, ui.Intent) { return v.handleInput(msg), nil },
	})
	v.overlays, v.status, v.canvas = &v.screen.Overlays, &v.screen.Status, &v.screen.Canvas
	now := c.Now // the time of the session
	player := panel.NewPlayer(c.Styles, c.Session)
	if player != nil {
		now, v.replica.Recorded, v.screen.LeaveText = player.Now, true, replayLeaveText
	}
	v.commands = &request.Sender{
		Runner:  request.Runner{Tasks: c.Tasks, Status: v.status, Answers: ui.NewAnswers(c.Now)},
		Session: c.Session,
	}
	v.base = panel.Base{Styles: c.Styles, Replica: v.replica, Commands: v.commands, Now: c.Now}
	v.files = files.New(files.Config{
		Styles: c.Styles, Replica: v.replica, Commands: v.commands, Overlays: v.overlays, Viewer: c.Viewer,
		Editor: c.Editor, Home: c.Env["HOME"], Local: c.Local, Exec: c.Exec,
	})
	git := gitstatus.New(v.base, func() bool { return v.panels.side.Width(v.canvas.Width) > 0 })
	v.transcript = pane.New(pane.Config{
		Base: v.base, Clipboard: c.Clipboard, Files: v.files, Git: git, Beside: c.Beside,
		Older: func(page *protocol.HistoryResult) { v.input.AddOlder(page) },
	})
	restore := func(text string, files []attachment.File) {
		v.input.Restore(text, files)
		v.setFocus(onComposer)
	}
	v.panels = panels{
		connection: &panel.Connection{Base: v.base},
		git:        git,
		queue: queue.New(queue.Config{
			Base: v.base, NewID: c.NewID,
			Editing: func() string { return v.input.Editing() },
			Restore: func(text string) { restore(text, nil) },
		}),
		plan:      panel.NewPlan(v.base, v.transcript.View.Turns),
		decision:  decision.New(v.base, v.overlays, c.Viewer.OpenURL),
		interrupt: &panel.Interrupt{Base: v.base},
		liveness:  &panel.Liveness{Base: v.base, Hidden: v.Hidden},
		outbox:    &input.Outbox{Base: v.base, Restore: restore},
		player:    player,
		images: &images.Images{
			Base: v.base, Transcript: v.transcript.View, Changed: func() bool { return v.canvas.Dirty },
		},
	}
	v.input = input.New(input.Config{
		Base: v.base, Options: c.Input, Overlays: v.overlays, Outbox: v.panels.outbox, Queue: v.panels.queue,
		Transcript: v.transcript, NewID: c.NewID, After: after, Env: c.Env, Local: c.Local, Sessions: c.Sessions,
		TakesText: func(a keymap.Action) bool { return v.actions[a].Text },
		Forked:    func(i input.ForkedIntent) { v.intent = i },
	})
	v.screen.Clear = v.input.Clear
	v.panels.side = sidecolumn.New(c.Side, c.Styles, v.replica, v.commands, v.transcript.View,
		v.panels.plan.Section, v.panels.queue.Section)
	v.panels.side.Git = git.Files
	shown := v.base
	shown.Now = now
	v.statusLine = statusline.New(statusline.Config{
		Base: shown, Turns: v.transcript.View.Turns, RunningTool: v.transcript.View.RunningTool,
		Files: v.panels.side.Files, Interrupting: v.panels.interrupt.Sent, Silence: v.panels.liveness.Silence,
		Sessions: c.Sessions, Server: c.Server, Local: c.Local, Home: c.Env["HOME"],
	})
	v.arrange()
	v.actions = v.listActions()
	return v
}

// Update handles a message. It does no I/O itself: the returned command does. The intent, which may
// be nil, is for the program.
func (v *View) Update(msg tea.Msg) (tea.Cmd, ui.Intent) {
	cmd := v.update(msg)
	cmd = tea.Batch(cmd, v.transcript.RequestPage(), v.input.Handled(msg), v.screen.Wait())
	intent := v.intent
	v.intent = nil
	return cmd, intent
}

// update handles a message without its follow-up commands.
func (v *View) update(msg tea.Msg) tea.Cmd {
	timed := v.screen.Update(msg)
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return v.updateParts(msg)
	case remote.Updates:
		return v.applyUpdates(msg)
	case ui.TimerMsg:
		return timed
	case UpdatesEnded:
		v.replica.Ended = true
		if v.replica.Conn.State != remote.Offline {
			v.setConn(remote.Conn{State: remote.Offline})
		}
		return nil
	case request.DoneMsg:
		v.canvas.Dirty = true
		cmd := msg.Then(msg.Err)
		v.restoreUnsent(v.panels.decision.TakeUnsent())
		return cmd
	case panel.Result: // of the program
		v.canvas.Dirty = true
		return v.applyResult(msg)
	case FocusMsg:
		if v.focus == onApproval {
			v.panels.decision.TakeFocus() // a key that follows directly decides no request
		}
		v.canvas.Dirty = true
		return nil
	case tea.FocusMsg:
		return v.updateParts(msg)
	case tea.BlurMsg:
		return nil
	}
	var parts tea.Cmd
	if !ui.IsInput(msg) {
		parts = v.updateParts(msg)
	}
	cmd, _ := v.screen.Route(msg)
	return tea.Batch(parts, cmd)
}

// View returns the screen. It is redrawn only after changes.
func (v *View) View() tea.View {
	title := func() string {
		state := v.replica.State
		return "agentctl " + transcript.CleanLine(remote.SessionName(state)) + " · " + string(state.Status())
	}
	return v.screen.View(title, v.layout)
}

// showsClock reports whether the screen shows a time that changes each second.
func (v *View) showsClock() bool {
	s := v.replica.State
	if v.hidden {
		return false
	}
	if v.panels.player != nil {
		return v.panels.player.Playing()
	}
	expires := func(a protocol.Approval) bool { return a.Expires != nil }
	return s.Turn != nil || v.replica.Process != nil || v.replica.Conn.State == remote.Reconnecting ||
		v.panels.queue.CountsDown() || slices.ContainsFunc(s.Approvals, expires) || v.commands.Answers.Waiting()
}

// Transcript returns the transcript of the view.
func (v *View) Transcript() *transcriptview.View { return v.transcript.View }

// Session returns the state of the session and its connection.
func (v *View) Session() *replica.Session { return v.replica }

// Plan returns the plan of the running turn, or nil.
func (v *View) Plan() *protocol.Plan { return v.panels.plan.Running() }

// SetHidden sets whether the view is hidden. A hidden view runs no clocks.
func (v *View) SetHidden(hidden bool) {
	v.hidden = hidden
	v.panels.decision.LoseFocus()
	v.panels.images.Hidden = hidden
	v.updateTaskList()
}

// SetOthers sets the note about other sessions in the status line.
func (v *View) SetOthers(text string) {
	v.canvas.Dirty = v.canvas.Dirty || v.statusLine.Others != text
	v.statusLine.Others = text
}

// SaveDraft saves the draft if it has changed.
func (v *View) SaveDraft() { v.input.SaveDraft() }

// KeepText adds a text that was written elsewhere to the unsent message.
func (v *View) KeepText(text string) {
	v.input.KeepText(text)
	v.canvas.Dirty = true
}

// ShowStatus shows a status message.
func (v *View) ShowStatus(text string) {
	v.status.Text = text
	v.canvas.Dirty = true
}

// Hidden reports whether the view is hidden.
func (v *View) Hidden() bool { return v.hidden }

// FocusMsg tells a view beside others that the keys go to it from now on.
type FocusMsg struct{}

// SetElsewhere sets whether the keys go to another view beside this one. The prompt of this one is
// then plain.
func (v *View) SetElsewhere(elsewhere bool) {
	if elsewhere {
		v.panels.decision.LoseFocus()
	}
	v.canvas.Dirty = v.canvas.Dirty || v.input.Elsewhere != elsewhere
	v.input.Elsewhere = elsewhere
}

// SetBeside sets whether a border is beside the view. The frame of a request has no sides then.
func (v *View) SetBeside(beside bool) {
	v.canvas.Dirty = v.panels.decision.SetOpen(beside) || v.canvas.Dirty
}

// Detachable reports whether a later subscription can continue this one without a loss. The hold of
// a queued message that the user edits ends with the subscription.
func (v *View) Detachable() bool { return !v.replica.Ended && v.input.Editing() == "" }
