package sessionview

import (
	"cmp"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/download"
	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/composer"
	"agentctl/tui/drafts"
	"agentctl/tui/palette"
	"agentctl/tui/remote"
	"agentctl/tui/review"
	"agentctl/tui/task"
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
	Env       map[string]string // the environment of the terminal
	Host

	Side SideOptions

	Now   func() time.Time
	NewID func() string // returns a new message ID

	// After returns a command that delivers a message to the view after a delay.
	After func(time.Duration, tea.Msg) tea.Cmd

	// Exec returns a command that runs another program in the terminal.
	Exec func(tea.ExecCommand, tea.ExecCallback) tea.Cmd

	Composer ComposerConfig
}

// Host is where a session runs.
type Host struct {
	Local  bool   // its directory is on this machine
	Server string // name of its server, if the program shows several; else ""
}

// ComposerConfig configures the composer of a view.
type ComposerConfig struct {
	NoShell bool // ! writes a message

	// SaveDraft saves the unsent message of the session. It does not block. nil: it is not saved.
	SaveDraft func(drafts.Draft)
}

// View shows one session and lets the user control it. It must be used only by the event loop of
// the program.
type View struct {
	Config
	replica  *replica
	commands *commander

	screen   *ui.Screen
	overlays *ui.Stack  // of screen
	status   *ui.Status // of screen
	canvas   *ui.Canvas // of screen
	intent   ui.Intent  // for the program, returned by Update

	transcript transcriptPane
	composer   composer.Composer
	panels     panels
	usage      contextUsage
	statusLine statusLine

	focus   focus
	pressed keyHistory
	hidden  bool // not on the screen, or shown as a preview
}

// panels holds the parts between the transcript and the composer.
type panels struct {
	connection  connectionPanel
	queue       queuePanel
	holds       *editHolds
	plan        planPanel
	side        sideColumn
	approvals   approval.Panel
	rows        clickRows // of the last layout
	interrupt   interrupt
	outbox      outbox
	commandList *commandList
	undo        undo
	files       *fileCompletion

	attachments attachments
	drafts      draftSaver
	player      *playerBar // in place of the composer; nil: the session is no recording
}

// Messages of a view, in addition to those of its parts.
type (
	// UpdatesEnded reports that no more updates will arrive.
	UpdatesEnded struct{}

	editedMsg struct { // carries a text from the user's editor to done
		text string
		err  error
		done func(string)
	}
)

// New returns a view that has not received any updates.
func New(c Config) *View {
	v := &View{
		Config: c, replica: newReplica(), composer: composer.New(),
	}
	v.screen = ui.NewScreen(ui.ScreenConfig{
		Styles: c.Styles, Now: c.Now,
		After:     func(d time.Duration, msg tea.Msg) tea.Cmd { return v.After(d, msg) },
		LeaveText: leaveText, Clear: v.clearWritten, Pressed: v.beforeKey, Palette: v.newPalette,
		Anywhere: v.actAnywhere,
		Handle:   func(i ui.Intent) (tea.Cmd, ui.Intent) { return v.handleIntent(i), nil },
		Input:    func(msg tea.Msg) (tea.Cmd, ui.Intent) { return v.handleInput(msg), nil },
	})
	v.overlays, v.status, v.canvas = &v.screen.Overlays, &v.screen.Status, &v.screen.Canvas
	now := c.Now // the time of the session
	player := newPlayerBar(c.Styles, c.Session)
	if player != nil {
		now, v.replica.recorded, v.screen.LeaveText = player.player.Now, true, replayLeaveText
	}
	v.commands = &commander{session: c.Session, tasks: c.Tasks, status: v.status, answers: ui.NewAnswers(c.Now)}
	v.transcript = transcriptPane{
		styles: c.Styles, replica: v.replica, commands: v.commands, clipboard: c.Clipboard,
		view: transcriptview.New(c.Styles),
	}
	v.statusLine = statusLine{
		styles: c.Styles, replica: v.replica, status: v.status, usage: &v.usage, now: now,
		listSessions: c.Sessions, server: c.Server, answers: v.commands.answers,
		directory:   directory{replica: v.replica, tasks: c.Tasks, local: c.Local, home: c.Env["HOME"]},
		runningTool: v.transcript.view.RunningTool,
	}
	v.usage = contextUsage{replica: v.replica, commands: v.commands, now: now}
	holds := &editHolds{
		replica: v.replica, commands: v.commands, now: c.Now, disconnects: map[protocol.Actor]time.Time{},
	}
	v.panels = panels{
		connection: connectionPanel{styles: c.Styles, replica: v.replica, session: c.Session},
		holds:      holds,
		queue: queuePanel{
			styles: c.Styles, replica: v.replica, commands: v.commands, holds: holds, pending: map[string]string{},
		},
		plan:      planPanel{styles: c.Styles, replica: v.replica, commands: v.commands, pending: map[string]string{}},
		approvals: approval.NewPanel(c.Styles, ""),
		interrupt: interrupt{styles: c.Styles, replica: v.replica, commands: v.commands},
		outbox:    outbox{styles: c.Styles},

		commandList: newCommandList(c.Styles),
		files:       newFileCompletion(c.Styles, v.replica, c.Tasks, c.Local),

		attachments: attachments{styles: c.Styles},
		drafts:      draftSaver{save: c.Composer.SaveDraft},
		player:      player,
	}
	v.panels.side = sideColumn{
		styles: c.Styles, replica: v.replica, plan: &v.panels.plan, transcript: v.transcript.view,
		hidden: cmp.Or(c.Side.Hidden, new(bool)),
	}
	return v
}

// Update handles a message. It does no I/O itself: the returned command does. The intent, which may
// be nil, is for the program.
func (v *View) Update(msg tea.Msg) (tea.Cmd, ui.Intent) {
	cmd := v.update(msg)
	cmd = tea.Batch(cmd, v.screen.Tick(!v.hidden && v.showsClock()), v.transcript.requestPage(),
		v.screen.Expire(v.transcript.jump != nil), v.completeFiles(), v.scheduleDraft(msg), v.scheduleImages(),
		v.scheduleNextPage())
	intent := v.intent
	v.intent = nil
	return cmd, intent
}

// update handles a message without its follow-up commands.
func (v *View) update(msg tea.Msg) tea.Cmd {
	v.screen.Update(msg)
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		return v.statusLine.directory.refresh()
	case remote.Updates:
		return v.applyUpdates(msg)
	case ui.StatusTimeoutMsg:
		return nil
	case DraftMsg:
		v.restoreDraft(drafts.Draft(msg))
	case saveDraftMsg:
		v.panels.drafts.pending = false
		v.SaveDraft()
		return nil
	case ui.LeaveTimeoutMsg:
	case approval.GuardMsg:
		msg.Wake()
		return v.armApproval()
	case localSearchMsg:
		v.canvas.Dirty = v.canvas.Dirty || v.transcript.search.running
		return v.transcript.continueSearch(msg.generation)
	case matchCountMsg:
		v.canvas.Dirty = true
		return v.transcript.continueCount(msg.count)
	case findMsg:
		v.canvas.Dirty = true
		return v.findTyped(msg)
	case UpdatesEnded:
		v.replica.ended = true
		if v.replica.conn.State != remote.Offline {
			v.setConn(remote.Conn{State: remote.Offline})
		}
		return nil
	case ui.RestyleMsg:
		v.transcript.view.List.Restyle()
	case ui.TickMsg:
		v.transcript.view.Tick()
	case olderMsg:
		v.canvas.Dirty = true
		if v.transcript.stale(msg) {
			return nil
		}
		if msg.err == nil {
			v.composer.AddOlder(msg.page, v.replica.conn.By)
		}
		return v.transcript.addOlder(msg)
	case nextPageMsg:
		return v.transcript.requestNextPage()
	case imagesMsg, imageMsg, ui.ImagesChangedMsg:
		return v.updateImages(msg)
	case usageHistoryMsg:
		v.usage.addHistory(msg)
	case editedMsg:
		v.finishEditor(msg)
	case doneMsg:
		v.canvas.Dirty = true
		return msg.then(msg.err)
	case branchMsg:
		v.canvas.Dirty = v.statusLine.directory.setBranch(msg) || v.canvas.Dirty
		return nil
	case filesMsg:
		v.canvas.Dirty = v.panels.files.setFiles(msg) || v.canvas.Dirty
		return nil
	case FocusMsg:
		return v.takeFocus()
	case tea.FocusMsg:
		return v.statusLine.directory.refresh()
	case tea.BlurMsg:
		return nil
	default:
		cmd, _ := v.screen.Route(msg)
		return tea.Batch(cmd, v.armApproval())
	}
	v.canvas.Dirty = true
	_, _, _ = v.overlays.Update(msg)
	return nil
}

// beforeKey ends what lasts until the next key.
func (v *View) beforeKey() {
	v.transcript.jump = nil
	v.panels.approvals.Touch(v.Now())
}

// handleIntent carries out an intent of an overlay.
func (v *View) handleIntent(intent any) tea.Cmd {
	switch i := intent.(type) {
	case palette.Command:
		return v.runCommand(i)
	case searchIntent:
		return v.handleSearch(i)
	case takePromptIntent:
		v.takePrompt(i.text)
	case takeOutputIntent:
		v.composer.Paste(i.text)
	case olderPromptsIntent:
		return v.olderMessages()
	case approval.Result:
		return v.applyApprovalResult(i)
	case ui.EditIntent:
		return v.editText("txt", i.Text, i.Done)
	case review.CopyIntent:
		return v.Clipboard.Copy(i.Text)
	case turnIntent:
		v.setFocus(onTranscript)
		return v.transcript.jumpToTurn(i.turn)
	}
	return nil
}

// View returns the screen. It is redrawn only after changes.
func (v *View) View() tea.View { return v.screen.View(v.windowTitle, v.layout) }

// armApproval enables the keys of the shown approval once its grace period is over.
func (v *View) armApproval() tea.Cmd {
	cmd, armed := v.panels.approvals.Arm(v.Now(), v.After)
	v.canvas.Dirty = v.canvas.Dirty || armed
	return cmd
}

// showsClock reports whether the screen shows a time that changes each second.
func (v *View) showsClock() bool {
	s := v.replica.state
	if v.panels.player != nil {
		return v.panels.player.playing()
	}
	if s.Turn != nil || v.replica.conn.State == remote.Reconnecting || v.panels.holds.countingDown() {
		return true
	}
	for i := range s.Approvals {
		if s.Approvals[i].Expires != nil {
			return true
		}
	}
	return v.commands.answers.Waiting()
}

// Transcript returns the transcript of the view.
func (v *View) Transcript() *transcriptview.View { return v.transcript.view }

// State returns the state of the session. The view owns it: callers must not change it.
func (v *View) State() *protocol.State { return v.replica.state }

// Plan returns the plan of the running turn, or nil.
func (v *View) Plan() *protocol.Plan { return v.panels.plan.plan() }

// Conn returns the state of the connection.
func (v *View) Conn() remote.ConnState { return v.replica.conn.State }

// CaughtUp reports whether all events of the last catch-up have been applied.
func (v *View) CaughtUp() bool { return v.replica.caughtUp }

// SetHidden sets whether the view is hidden. A hidden view runs no clocks.
func (v *View) SetHidden(hidden bool) {
	v.hidden = hidden
	v.updateTaskList()
}

// SetOthers sets the note about other sessions in the status line.
func (v *View) SetOthers(text string) {
	v.canvas.Dirty = v.canvas.Dirty || v.statusLine.others != text
	v.statusLine.others = text
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
	v.canvas.Dirty = v.canvas.Dirty || v.composer.Elsewhere != elsewhere
	v.composer.Elsewhere = elsewhere
}

// SetBeside sets whether a border is beside the view. The frame of a request has no sides then.
func (v *View) SetBeside(beside bool) {
	v.canvas.Dirty = v.canvas.Dirty || v.panels.approvals.Open() != beside
	v.panels.approvals.SetOpen(beside)
}

// takeFocus handles that the keys go to the view from now on. A key that follows at once decides no
// request.
func (v *View) takeFocus() tea.Cmd {
	if v.focus == onApproval {
		v.panels.approvals.TakeFocus()
	}
	v.canvas.Dirty = true
	return v.armApproval()
}

// Position returns the position of the last event applied, or zero before the first snapshot.
func (v *View) Position() protocol.Position {
	if v.replica.epoch == "" {
		return protocol.Position{}
	}
	return protocol.Position{Epoch: v.replica.epoch, Seq: v.replica.state.Seq}
}

// Lags reports whether this client is behind the server's log: the events come faster than the
// connection carries them.
func (v *View) Lags() bool { return v.replica.lag() >= minLag }

// Detachable reports whether a later subscription can continue this one without a loss. The hold of
// a queued message that the user edits ends with the subscription.
func (v *View) Detachable() bool { return !v.replica.ended && v.composer.Editing == "" }
