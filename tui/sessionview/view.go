package sessionview

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/composer"
	"agentctl/tui/remote"
	"agentctl/tui/task"
	"agentctl/tui/transcriptview"
	"agentctl/tui/ui"
)

// Config is what a view needs.
type Config struct {
	Session   remote.Session
	Tasks     *task.Runner // of this view alone
	Styles    *ui.Styles
	Now       func() time.Time
	NewID     func() string                                   // of messages
	After     func(time.Duration, tea.Msg) tea.Cmd            // sends the view a message later
	Exec      func(tea.ExecCommand, tea.ExecCallback) tea.Cmd // hands the terminal to another program
	Editor    string                                          // the user's editor, as a shell reads it
	Clipboard ui.Clipboard
	Sessions  bool // other sessions are a key away
}

// View shows one session and lets the user steer it. The event loop of the program owns it.
type View struct {
	Config
	replica  *replica
	commands *commander
	status   *ui.Status

	transcript transcriptPane
	composer   composer.Composer
	panels     panels
	usage      contextUsage
	overlays   ui.Stack

	focus   focus
	pressed keyHistory
	hidden  bool   // something else is on the screen
	others  string // a note about other sessions, for the status line
	ticking bool   // a tickMsg is on its way
	canvas  ui.Canvas
}

// keyHistory records earlier keys that change the meaning of the next one.
type keyHistory struct {
	quit   bool // the last key was ctrl+c
	arrows arrowKeys
}

// panels are the parts between the transcript and the composer.
type panels struct {
	queue      queuePanel
	holds      *editHolds
	plan       planPanel
	approvals  approval.Panel
	interrupt  interrupt
	outbox     outbox
	completion completion
}

// Messages of a view, beside those of its parts.
type (
	// UpdatesEnded says that no more updates will come.
	UpdatesEnded struct{}

	tickMsg   struct{}
	editedMsg struct { // brings a text from the user's editor; done runs in the event loop
		text string
		err  error
		done func(string)
	}
)

// New returns a view that has seen nothing of its session yet.
func New(c Config) *View {
	v := &View{
		Config: c, replica: newReplica(), status: new(ui.Status), composer: composer.New(),
		canvas: ui.NewCanvas(),
	}
	v.commands = &commander{session: c.Session, tasks: c.Tasks, status: v.status}
	v.transcript = transcriptPane{
		styles: c.Styles, replica: v.replica, commands: v.commands, clipboard: c.Clipboard,
		view: transcriptview.New(c.Styles),
	}
	v.usage = contextUsage{replica: v.replica, commands: v.commands, now: c.Now}
	holds := &editHolds{replica: v.replica, now: c.Now, disconnects: map[protocol.Actor]time.Time{}}
	v.panels = panels{
		holds: holds,
		queue: queuePanel{
			styles: c.Styles, replica: v.replica, commands: v.commands, holds: holds, pending: map[string]string{},
		},
		plan:       planPanel{styles: c.Styles, replica: v.replica, commands: v.commands, pending: map[string]string{}},
		approvals:  approval.NewPanel(c.Styles),
		interrupt:  interrupt{styles: c.Styles, replica: v.replica, commands: v.commands},
		outbox:     outbox{styles: c.Styles},
		completion: completion{styles: c.Styles},
	}
	return v
}

// Update handles a message. It does no I/O: the command that it returns does.
func (v *View) Update(msg tea.Msg) tea.Cmd {
	cmd := v.update(msg)
	return tea.Batch(cmd, v.startTick(), v.transcript.requestPage(), v.expireStatus())
}

func (v *View) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		v.canvas.Resize(msg)
		return nil
	case remote.Updates:
		return v.apply(msg)
	case ui.StatusTimeoutMsg:
		msg.Wake()
		return nil
	case approval.GuardMsg:
		msg.Wake()
		return v.armApproval()
	case localSearchMsg:
		v.canvas.Dirty = v.canvas.Dirty || v.transcript.search.running
		return v.transcript.continueSearch(msg.generation)
	case UpdatesEnded:
		v.replica.ended = true
		if v.replica.conn.State != remote.Offline {
			v.setConn(remote.Conn{State: remote.Offline})
		}
		return nil
	case ui.RestyleMsg:
		v.transcript.view.List.Restyle()
	case tickMsg:
		v.ticking = false
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
	case usageHistoryMsg:
		v.usage.addHistory(msg)
	case editedMsg:
		v.finishEditor(msg)
	case doneMsg:
		v.canvas.Dirty = true
		return msg.then(msg.err)
	case tea.FocusMsg, tea.BlurMsg:
		return nil
	default:
		return v.route(msg)
	}
	v.canvas.Dirty = true
	_, _, _ = v.overlays.Update(msg)
	return nil
}

// route gives a message to the overlays, and input that they do not take to the view itself.
func (v *View) route(msg tea.Msg) tea.Cmd {
	var guard tea.Cmd
	press, pressed := msg.(tea.KeyPressMsg)
	if pressed {
		v.canvas.Dirty = true
		if press.String() == "ctrl+c" {
			return v.pressQuit()
		}
		v.pressed.quit, v.transcript.jump = false, nil
		v.status.Clear()
		v.panels.approvals.Touch(v.Now())
		guard = v.armApproval()
	}
	top := v.overlays.Top()
	cmd, intents, pass := v.overlays.Update(msg)
	if top != nil || ui.IsInput(msg) {
		v.canvas.Dirty = true
	}
	cmds := []tea.Cmd{guard, cmd}
	for _, intent := range intents {
		cmds = append(cmds, v.handle(intent))
	}
	if pass {
		cmds = append(cmds, v.input(msg))
	}
	return tea.Batch(cmds...)
}

// handle does what an overlay wants of the view.
func (v *View) handle(intent any) tea.Cmd {
	if i, ok := intent.(searchIntent); ok {
		if i.cancel {
			v.transcript.endSearch()
			return nil
		}
		return v.search(i.text)
	}
	return nil
}

// pressQuit ends the program when ctrl+c was pressed before.
func (v *View) pressQuit() tea.Cmd {
	if v.pressed.quit {
		return tea.Quit
	}
	v.pressed.quit = true
	return nil
}

// View returns the screen. It is drawn only when something has changed.
func (v *View) View() tea.View { return v.canvas.View(v.draw) }

// armApproval lets the request on the screen take keys once the grace has passed.
func (v *View) armApproval() tea.Cmd {
	cmd, armed := v.panels.approvals.Arm(v.Now(), v.After)
	v.canvas.Dirty = v.canvas.Dirty || armed
	return cmd
}

// startTick wakes the program once a second while a clock is on the screen.
func (v *View) startTick() tea.Cmd {
	if v.ticking || v.hidden || !v.clockRuns() {
		return nil
	}
	v.ticking = true
	return v.After(time.Second, tickMsg{})
}

// clockRuns reports whether the screen shows a time that passes.
func (v *View) clockRuns() bool {
	s := v.replica.state
	if s.Turn != nil || v.replica.conn.State == remote.Reconnecting || v.panels.holds.countingDown() {
		return true
	}
	for i := range s.Approvals {
		if s.Approvals[i].Expires != nil {
			return true
		}
	}
	return false
}

// expireStatus removes status messages whose time is over. The one of a jump under way stays.
func (v *View) expireStatus() tea.Cmd {
	var own, overlay tea.Cmd
	var expired bool
	if v.transcript.jump == nil {
		own, expired = v.status.Expire(v.Now(), v.After)
		v.canvas.Dirty = v.canvas.Dirty || expired
	}
	overlay, expired = v.overlays.Expire(v.Now(), v.After)
	v.canvas.Dirty = v.canvas.Dirty || expired
	return tea.Batch(own, overlay)
}

// Transcript returns the transcript.
func (v *View) Transcript() *transcriptview.View { return v.transcript.view }

// State returns the state of the session. It belongs to the view.
func (v *View) State() *protocol.State { return v.replica.state }

// Plan returns the running plan, or nil.
func (v *View) Plan() *protocol.Plan { return v.panels.plan.plan() }

// Conn returns the state of the connection.
func (v *View) Conn() remote.ConnState { return v.replica.conn.State }

// CaughtUp reports whether all events up to now have been applied.
func (v *View) CaughtUp() bool { return v.replica.caughtUp }

// SetHidden tells the view whether it is on the screen.
func (v *View) SetHidden(hidden bool) {
	v.hidden = hidden
	v.updateTaskList()
}

// SetOthers sets the note about other sessions.
func (v *View) SetOthers(text string) {
	v.canvas.Dirty = v.canvas.Dirty || v.others != text
	v.others = text
}

// ShowStatus shows a status message.
func (v *View) ShowStatus(text string) {
	v.status.Text = text
	v.canvas.Dirty = true
}

// SetDraft replaces what is typed.
func (v *View) SetDraft(text string) { v.composer.SetText(text) }

// Unsent returns the texts that were typed here and that the server may not have.
func (v *View) Unsent() []string {
	texts := v.panels.outbox.texts()
	if text := v.composer.Unsent(); text != "" {
		texts = append(texts, text)
	}
	return texts
}

// Hidden reports whether the view is not on the screen.
func (v *View) Hidden() bool { return v.hidden }
