package tui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"agentctl/internal/format"
	"agentctl/tui/dashboard"
	"agentctl/tui/keymap"
	"agentctl/tui/notify"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview"
	"agentctl/tui/task"
	"agentctl/tui/tour"
	"agentctl/tui/ui"
)

// program is the Bubble Tea model. It shows one session, or a dashboard and the sessions opened
// from it. It owns the terminal's size, styles and focus, and routes messages to the screens.
type program struct {
	styles     *ui.Styles
	mouse      mouse
	notifier   *notify.Notifier
	sessions   *openSessions
	dashboard  *dashboard.Dashboard // nil: the program shows one session only
	initial    string               // session shown by Init; "": the dashboard
	navigation pendingNavigation
	read       readSaver
	tour       *tour.Guide // nil: no tour
	note       string      // shown at the start

	panes panes
	watch watchRequest

	width, height int
	renderClock   renderClock
}

// watchRequest is the request for the summaries of all sessions. An initial session loads first: it
// must not wait for thousands of summaries.
type watchRequest struct {
	made chan struct{} // closed by the request
	done bool          // made is closed
}

// mouse is the state of the mouse.
type mouse struct {
	enabled   bool      // mouse reports are enabled
	focusedAt time.Time // when the terminal got the focus
}

// focusClickTime is the time after the focus of the terminal in which a click is the one that
// focused it.
const focusClickTime = 200 * time.Millisecond

// Init queries the terminal for the theme and shows the initial session.
func (p *program) Init() tea.Cmd {
	cmds := []tea.Cmd{p.renderClock.open(), p.styles.Query()}
	switch {
	case p.dashboard == nil || p.initial != "":
		cmds = append(cmds, p.open(p.initial))
	case p.panes.layout.Len() > 0 && !p.panes.store.saved.hidden:
		cmds = append(cmds, p.showPanes())
	default:
		p.requestWatch()
	}
	if p.note != "" {
		p.showStatus(p.note)
	}
	return tea.Batch(cmds...)
}

// showStatus shows a status message in the session with the focus, or on the dashboard.
func (p *program) showStatus(text string) {
	if p.sessions.shown != nil {
		p.sessions.shown.view.ShowStatus(text)
		return
	}
	p.dashboard.ShowStatus(text)
}

// requestWatch requests the summaries of all sessions. Only the first call has an effect.
func (p *program) requestWatch() {
	if !p.watch.done {
		p.watch.done = true
		close(p.watch.made)
	}
}

// Update routes a message to the screens.
func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(renderClockMsg); ok {
		return p, p.renderClock.check()
	}
	if p.guideInput(msg) {
		return p, p.renderClock.touch()
	}
	cmd := p.update(msg)
	p.observeTour()
	return p, tea.Batch(p.renderClock.touch(), cmd, p.detachHidden(), p.saveChangedPanes())
}

// detachHidden ends the updates of sessions that are not visible.
func (p *program) detachHidden() tea.Cmd {
	previewed := ""
	if p.dashboard != nil && p.sessions.shown == nil {
		previewed = p.dashboard.Previewed()
	}
	return p.sessions.detachHidden(previewed)
}

// update routes a message to the screens.
func (p *program) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		msg.Height -= p.tourRows(msg.Height)
		p.width, p.height = max(msg.Width, 1), max(msg.Height, 1)
		p.panes.dragged = nil
		cmd := p.updateDashboard(msg)
		if p.sessions.shown != nil {
			cmd = tea.Batch(cmd, p.showPanes())
		}
		return cmd
	case tea.BackgroundColorMsg, tea.ColorProfileMsg, tea.ModeReportMsg:
		images := p.styles.Images.Method()
		if p.styles.Update(msg) || p.styles.Images.Method() != images {
			return p.restyle()
		}
		return nil
	case tea.MouseClickMsg:
		if p.sessions.viewConfig.Now().Sub(p.mouse.focusedAt) < focusClickTime {
			return nil
		}
	case ui.ThemeMsg:
		return p.setTheme(msg.Theme)
	case ui.ImagesMsg:
		return p.setImages(msg.Mode)
	case ui.QueryImagesMsg, imagesTimeoutMsg, tea.TerminalVersionMsg, uv.KittyGraphicsEvent,
		uv.PrimaryDeviceAttributesEvent:
		return p.updateImages(msg)
	case tea.FocusMsg, tea.BlurMsg:
		_, focused := msg.(tea.FocusMsg)
		p.renderClock.resting = !focused
		if focused {
			p.mouse.focusedAt = p.sessions.viewConfig.Now()
		}
		p.notifier.Update(msg)
		return tea.Batch(p.updateDashboard(msg), p.updateOnScreen(msg))
	case task.Message:
		return p.updateSession(msg.To.(*openSession), msg.Msg)
	case detachMsg:
		p.sessions.detachPending = false
		return nil
	case readSavedMsg:
		return p.finishSave(msg)
	case layoutSaveMsg:
		return p.startSavePanes()
	case layoutSavedMsg:
		p.finishSavePanes(msg)
		return nil
	case dashboard.SummariesMsg:
		return p.applySummaries(msg)
	}
	if press, ok := msg.(tea.KeyPressMsg); ok && p.styles.Keys.At(keymap.Global, press.String()) == keymap.NextTheme {
		return p.setTheme(p.styles.NextTheme())
	}
	if p.sessions.shown != nil && ui.IsInput(msg) {
		return p.handleInput(msg)
	}
	return p.updateDashboard(msg)
}

// handleInput passes a key, paste or mouse event to the session on the screen. It handles the keys
// that leave the session itself.
func (p *program) handleInput(msg tea.Msg) tea.Cmd {
	if mouse, ok := msg.(tea.MouseMsg); ok {
		return p.handleMouse(mouse)
	}
	press, ok := msg.(tea.KeyPressMsg)
	if !ok || p.dashboard == nil {
		return p.updateShown(msg)
	}
	if action := p.styles.Keys.At(keymap.Global, press.String()); leavesSession(action) {
		return p.handleAction(action)
	}
	if action := p.styles.Keys.At(keymap.Panes, press.String()); p.panes.actsOnPanes(action) {
		return p.handleAction(action)
	}
	return p.updateShown(msg)
}

// leavesSession reports whether an action shows another screen.
func leavesSession(a keymap.Action) bool {
	return a == keymap.ShowSessions || a == keymap.NextPending || a == keymap.JumpSession
}

// handleAction carries out an action that leaves the session on the screen.
func (p *program) handleAction(action keymap.Action) tea.Cmd {
	if p.dashboard == nil {
		return nil
	}
	if action.OnPanes() {
		return p.actOnPanes(action)
	}
	switch action {
	case keymap.NextPending:
		return tea.Batch(p.showNextPending(), p.updateDashboard(nil))
	case keymap.ShowSessions, keymap.NewSession, keymap.JumpSession:
		p.navigation = pendingNavigation{}
		p.showDashboard()
	}
	if action == keymap.JumpSession {
		p.dashboard.OpenJump(true)
	}
	if action == keymap.NewSession {
		cmd, _ := p.dashboard.Act(action)
		return tea.Batch(cmd, p.updateDashboard(nil))
	}
	return p.updateDashboard(nil)
}

// updateShown passes a message to the session on the screen, if any.
func (p *program) updateShown(msg tea.Msg) tea.Cmd {
	if p.sessions.shown == nil {
		return nil
	}
	return p.updateSession(p.sessions.shown, msg)
}

// updateOnScreen passes a message to all sessions on the screen.
func (p *program) updateOnScreen(msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	for _, o := range p.sessions.onScreen() {
		cmds = append(cmds, p.updateSession(o, msg))
	}
	return tea.Batch(cmds...)
}

// updateSession passes a message to a session and updates the screens that depend on it.
func (p *program) updateSession(o *openSession, msg tea.Msg) tea.Cmd {
	if m, ok := msg.(streamMsg); ok {
		if o.detached || m.stream != o.stream {
			return nil
		}
		msg = m.msg
	}
	cmd, intent := p.sessions.update(o, msg)
	switch i := intent.(type) {
	case ui.ActionIntent:
		cmd = tea.Batch(cmd, p.handleAction(i.Action))
	case sessionview.ForkedIntent:
		cmd = tea.Batch(cmd, p.openFork(o, i))
	}
	if p.dashboard == nil {
		if _, ok := msg.(remote.Updates); ok && o.view.CaughtUp() {
			return tea.Batch(cmd, p.notifier.Follow(o.view.State()))
		}
		return cmd
	}
	if o.view.CaughtUp() || o.view.Conn() == remote.Offline {
		p.requestWatch()
	}
	if p.sessions.shown == nil && p.dashboard.Selected() == o.id {
		p.dashboard.Invalidate()
	}
	return tea.Batch(cmd, p.updateDashboard(nil))
}

// updateDashboard passes a message to the dashboard, if any, and handles the intents it returns.
func (p *program) updateDashboard(msg tea.Msg) tea.Cmd {
	if p.dashboard == nil {
		return nil
	}
	cmd, intent := p.dashboard.Update(msg)
	if intent == nil {
		return cmd
	}
	return tea.Batch(cmd, p.handleIntent(intent), p.updateDashboard(nil))
}

// handleIntent executes an intent of the dashboard.
func (p *program) handleIntent(intent ui.Intent) tea.Cmd {
	switch i := intent.(type) {
	case dashboard.OpenIntent:
		p.navigation = pendingNavigation{}
		return p.open(i.Session)
	case dashboard.OpenHitIntent:
		p.navigation = pendingNavigation{}
		cmd := p.open(i.Hit.Session)
		return tea.Batch(cmd, p.sessions.shown.view.ShowHit(i.Hit, i.Text))
	case dashboard.BackIntent:
		return p.showBack()
	case dashboard.SplitIntent:
		return p.showSplit(i)
	case dashboard.NextIntent:
		return p.showNextPending()
	}
	return nil
}

// showDashboard puts the dashboard on the screen.
func (p *program) showDashboard() {
	p.requestWatch()
	p.hidePanes()
	p.dashboard.SetCovered(false)
}

// applySummaries passes summaries to the dashboard and the notifier, and closes deleted sessions.
func (p *program) applySummaries(msg dashboard.SummariesMsg) tea.Cmd {
	var shown []string
	for _, o := range p.sessions.onScreen() {
		shown = append(shown, o.id)
	}
	p.notifier.Show(shown...)
	cmds := []tea.Cmd{p.updateDashboard(msg)}
	for i := range msg {
		s := &msg[i].Summary
		if msg[i].Err != nil {
			continue
		}
		cmds = append(cmds, p.notifier.FollowSummary(s, p.dashboard.ServerOf(s.Session)))
		if s.Deleted {
			p.removeDeleted(s.Session)
		}
	}
	p.updateOthers()
	return tea.Batch(append(cmds, p.saveRead())...)
}

// updateOthers sets the number of other waiting sessions in the session on the screen.
func (p *program) updateOthers() {
	shown := p.sessions.shown
	if shown == nil {
		return
	}
	list := p.dashboard.List()
	for _, o := range p.sessions.onScreen() {
		list.MarkSeen(o.id)
		if o != shown {
			o.view.SetOthers("")
		}
	}
	others := ""
	if n := list.CountWaiting(shown.id); n > 0 {
		others = format.Count(n, "other") + " waiting"
		if key := p.styles.Keys.Key(keymap.NextPending); key != "" {
			others += ": " + key
		}
	}
	shown.view.SetOthers(others)
}

// setTheme switches to a theme.
func (p *program) setTheme(theme ui.Theme) tea.Cmd {
	query, changed := p.styles.SetTheme(theme)
	if !changed {
		return query
	}
	return tea.Batch(query, p.restyle())
}

// restyle redraws all screens with the current styles.
func (p *program) restyle() tea.Cmd {
	p.panes.frame.reset()
	cmds := []tea.Cmd{p.updateDashboard(ui.RestyleMsg{})}
	for _, o := range p.sessions.all {
		cmds = append(cmds, p.updateSession(o, ui.RestyleMsg{}))
	}
	return tea.Batch(cmds...)
}

// View draws the session on the screen, or the dashboard.
func (p *program) View() tea.View {
	var v tea.View
	if o := p.sessions.shown; o != nil {
		v = p.panes.frame.view(p)
		v.ProgressBar = p.notifier.Progress(o.view.State(), o.view.Plan(), o.view.Conn())
	} else {
		v = p.dashboard.View()
	}
	if p.dashboard != nil {
		if n := p.dashboard.List().CountWaiting(""); n > 0 {
			v.WindowTitle = fmt.Sprintf("(%d) ", n) + v.WindowTitle
		}
	}
	p.addTour(&v)
	if p.mouse.enabled {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}
