package tui

import (
	"fmt"
	"slices"
	"sync"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/tui/changes"
	"agentctl/tui/dashboard"
	"agentctl/tui/keymap"
	"agentctl/tui/notify"
	"agentctl/tui/remote"
	"agentctl/tui/sessionview"
	"agentctl/tui/sessionview/input"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/split"
	"agentctl/tui/task"
	"agentctl/tui/ui"
)

// program is the Bubble Tea model. It shows one session, or a dashboard and the sessions opened
// from it. It connects its parts, which do not know it: a message passes the input filters, then
// goes to the screen with the focus. handle carries out what the parts ask for, and refresh updates
// what depends on them.
type program struct {
	styles    *ui.Styles
	sessions  *openSessions
	dashboard *dashboard.Dashboard // nil: the program shows one session only
	stale     bool                 // refresh must update the dashboard
	initial   string               // session shown by Init; "": the dashboard
	note      string               // shown at the start

	// Input filters, in the order in which they see a message.
	tour  tourPanel
	mouse mouse
	panes panes

	navigation  pendingNavigation
	notifier    *notify.Notifier
	read        saver // of what the user has read
	watch       watchRequest
	renderClock renderClock
}

// watchRequest is the request for the summaries of all sessions. An initial session loads first: it
// must not wait for thousands of summaries.
type watchRequest struct {
	made    chan struct{} // closed by the request
	request func()        // requests the summaries; only the first call has an effect
}

func newWatchRequest() watchRequest {
	made := make(chan struct{})
	return watchRequest{made, sync.OnceFunc(func() { close(made) })}
}

// Init queries the terminal for the theme and shows the initial session.
func (p *program) Init() tea.Cmd {
	cmds := []tea.Cmd{p.renderClock.open(), p.styles.Query()}
	switch {
	case p.dashboard == nil || p.initial != "":
		cmds = append(cmds, p.open(p.initial))
	case p.panes.layout.Len() > 0 && p.panes.store.saved != any(savedLayout{p.panes.layout, true}):
		cmds = append(cmds, p.show())
	default:
		p.watch.request()
	}
	if p.note != "" {
		p.showStatus(p.note)
	}
	return tea.Batch(cmds...)
}

// Update passes a message through the filters to the screens.
func (p *program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(renderClockMsg); ok {
		return p, p.renderClock.check()
	}
	filtered := p.mouse.filter(msg)
	if len(filtered) != 1 {
		cmds := []tea.Cmd{p.renderClock.touch()}
		for _, msg := range filtered {
			_, cmd := p.Update(msg)
			cmds = append(cmds, cmd)
		}
		return p, tea.Batch(cmds...)
	}
	msg, taken := p.tour.filter(filtered[0])
	if taken {
		return p, p.renderClock.touch() // the guide advances with the next message
	}
	msg, appeared := changeAppearance(p.styles, msg)
	msg, intent := p.panes.filter(msg)
	var routed tea.Cmd
	if msg != nil {
		routed = p.route(msg)
	}
	handled, refreshed := p.handle(intent), p.refresh()
	return p, tea.Batch(p.renderClock.touch(), appeared, routed, handled, refreshed)
}

// route passes a message to the part that it is for: input to the screen with the focus.
func (p *program) route(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case task.Message:
		return p.updateSession(msg.To.(*openSession), msg.Msg)
	case paneMsg:
		return p.updateSession(p.sessions.find(msg.session), msg.msg)
	case dashboard.SummariesMsg:
		return p.applySummaries(msg)
	case tea.WindowSizeMsg:
		p.panes.resize(msg)
		cmd := p.updateDashboard(msg)
		if p.sessions.shown != nil {
			cmd = tea.Batch(cmd, p.show())
		}
		return cmd
	case tea.FocusMsg, tea.BlurMsg:
		p.renderClock.observe(msg)
		p.notifier.Update(msg)
		return tea.Batch(p.updateDashboard(msg), p.updateSessions(p.sessions.onScreen(), msg))
	case ui.RestyleMsg:
		p.panes.frame = paneFrame{}
		return tea.Batch(p.updateDashboard(msg), p.updateSessions(p.sessions.all, msg))
	case ui.SwitchMouseMsg:
		p.showStatus(p.mouse.toggle(p.styles.Keys))
		return p.route(ui.RestyleMsg{})
	case detachMsg:
		p.sessions.detachPending = false
		return nil
	case saveMsg:
		return msg.saver.start()
	case savedMsg:
		if err := msg.saver.finish(msg); err != nil {
			p.showStatus(err.Error())
		}
		return nil
	}
	if p.sessions.shown != nil && ui.IsInput(msg) {
		return p.updateSession(p.sessions.shown, msg)
	}
	return p.updateDashboard(msg)
}

// updateSession passes a message to a session.
func (p *program) updateSession(o *openSession, msg tea.Msg) tea.Cmd {
	cmd, intent := p.sessions.update(o, msg)
	p.stale = true
	if p.dashboard != nil && p.sessions.shown == nil && p.dashboard.Selected() == o.id {
		p.dashboard.Invalidate()
	}
	if intent != nil {
		cmd = tea.Batch(cmd, p.handle(intent))
	}
	return cmd
}

// updateSessions passes a message to sessions.
func (p *program) updateSessions(sessions []*openSession, msg tea.Msg) tea.Cmd {
	var cmds []tea.Cmd
	for _, o := range sessions {
		cmds = append(cmds, p.updateSession(o, msg))
	}
	return tea.Batch(cmds...)
}

// updateDashboard passes a message to the dashboard, if any.
func (p *program) updateDashboard(msg tea.Msg) tea.Cmd {
	if p.dashboard == nil {
		return nil
	}
	p.stale = false
	cmd, intent := p.dashboard.Update(msg)
	if intent != nil {
		cmd = tea.Batch(cmd, p.handle(intent))
	}
	return cmd
}

// refresh updates what depends on the sessions and on what is on the screen, after a message.
func (p *program) refresh() tea.Cmd {
	var cmd tea.Cmd
	previewed := ""
	if p.dashboard != nil {
		if p.sessions.anyLoaded() {
			p.watch.request()
		}
		if p.stale {
			cmd = p.updateDashboard(nil)
		}
		if p.sessions.shown == nil {
			previewed = p.dashboard.Previewed()
			p.tour.observe(nil, p.dashboard.Scope(), remote.Connected)
		}
	}
	if o := p.sessions.shown; o != nil {
		p.tour.observe(o.view.Session().State, o.view.Scope(), o.view.Session().Conn.State)
		if p.dashboard == nil && o.view.Session().CaughtUp {
			cmd = p.notifier.Follow(o.view.Session().State)
		}
	}
	return tea.Batch(cmd, p.sessions.detachHidden(previewed), p.panes.store.changed(), p.read.changed())
}

// handle carries out an intent of a part or of a screen.
func (p *program) handle(intent ui.Intent) tea.Cmd {
	if intent == nil {
		return nil
	}
	p.stale = true
	switch i := intent.(type) {
	case ui.ActionIntent:
		return p.act(i)
	case showIntent:
		return p.show()
	case chooseIntent:
		p.showDashboard()
		p.dashboard.OpenSplit(i.action)
	case sendIntent:
		return p.updateSessions(p.sessions.onScreen(), input.SendMsg(i.text))
	case dashboard.CompareIntent:
		p.navigation.end()
		p.panes.layout = split.Row(i.Sessions)
		if i.Failure != "" {
			defer p.showStatus(i.Failure)
		}
		return tea.Batch(p.renderClock.open(), p.show())
	case panel.CompareIntent:
		left, right := p.panes.compared()
		page, load := p.sessions.compare(i.Commands, p.sessions.find(left), p.sessions.find(right))
		return tea.Batch(p.show(), load, p.updateSession(p.sessions.shown, panel.Result{Push: page}))
	case changes.Closed:
		p.panes.zoom(false)
		return p.show()
	case statusIntent:
		p.showStatus(i.text)
	case forkIntent:
		if p.sessions.shown == i.from {
			p.navigation.end()
			cmd := p.open(i.id)
			p.showStatus("a fork that ends before this message: enter sends it")
			return cmd
		}
	case dashboard.OpenIntent:
		p.navigation.end()
		return p.open(i.Session)
	case dashboard.OpenHitIntent:
		p.navigation.end()
		cmd := p.open(i.Hit.Session)
		return tea.Batch(cmd, p.sessions.shown.view.ShowHit(i.Hit, i.Text))
	case dashboard.SplitIntent:
		if reason := p.panes.split(i.Session, i.Action); reason != "" {
			p.dashboard.ShowStatus(reason)
			return nil
		}
		p.navigation.end()
		return p.show()
	case dashboard.WalkEndedIntent:
		switch p.navigation.last = !i.Next; {
		case i.Left:
			p.navigation.end()
		case i.Next || p.navigation.visited != nil:
			return p.showNextPending()
		default:
			p.dashboard.ShowStatus("no other request waits")
		}
		return nil
	case dashboard.BackIntent:
		return p.showBack()
	}
	return nil
}

// act carries out an action that leaves a screen.
func (p *program) act(i ui.ActionIntent) tea.Cmd {
	action := i.Action
	switch {
	case action.OnPanes() && p.panes.covered:
		p.showStatus("") // the keys after the prefix
		cmd, intent := p.dashboard.Act(action)
		return tea.Batch(cmd, p.handle(intent))
	case action.OnPanes():
		p.showStatus("")
		return p.handle(p.panes.act(action, i.Text))
	case action == keymap.NextPending:
		return p.showNextPending()
	}
	p.showDashboard()
	switch action {
	case keymap.JumpSession:
		p.dashboard.OpenJump(true)
	case keymap.NewSession, keymap.CompareAgents:
		cmd, _ := p.dashboard.Act(action)
		return cmd
	}
	return nil
}

// open shows a session: it gets the focus, in place of the session with the focus unless it is in
// the layout.
func (p *program) open(id string) tea.Cmd {
	p.panes.layout = p.panes.layout.Open(id)
	return tea.Batch(p.renderClock.open(), p.show())
}

// show puts the sessions of the layout on the screen, each with its size. The layout must have a
// session.
func (p *program) show() tea.Cmd {
	focused, before := p.sessions.shown, p.sessions.onScreen()
	ids := p.panes.arrange(func(id string) bool { o := p.sessions.find(id); return o != nil && o.deleted })
	var ready <-chan struct{}
	if p.dashboard != nil && p.sessions.anyUnsubscribed(ids) {
		ready = p.dashboard.StopPreview()
	}
	p.sessions.show(ids, ready, slices.Concat(p.panes.layout.Sessions(), p.navigation.start.layout.Sessions()))
	var cmds []tea.Cmd
	for _, pane := range p.panes.screen.Panes {
		o := p.sessions.find(pane.Session)
		o.view.SetElsewhere(o != p.sessions.shown)
		o.view.SetBeside(pane.Area.Width < p.panes.width)
		size := tea.WindowSizeMsg{Width: max(pane.Content.Width, 1), Height: max(pane.Content.Height, 1)}
		if o.size != size || !slices.Contains(before, o) {
			o.size = size
			cmds = append(cmds, p.updateSession(o, size))
		}
	}
	if focused != nil && focused != p.sessions.shown && p.panes.layout.Len() > 1 {
		cmds = append(cmds, p.updateSession(p.sessions.shown, sessionview.FocusMsg{}))
	}
	if p.dashboard != nil {
		p.dashboard.SetCovered(true)
		p.dashboard.Select(p.sessions.shown.id)
		p.updateOthers()
	}
	return tea.Batch(cmds...)
}

// showDashboard puts the dashboard on the screen. It ends a walk through the sessions that need the
// user.
func (p *program) showDashboard() {
	p.navigation.end()
	p.watch.request()
	p.panes.remove(p.sessions.hide()...)
	p.panes.cover()
	p.dashboard.SetCovered(false)
}

// showBack returns from the dashboard to the sessions that were shown last, if there are any.
func (p *program) showBack() tea.Cmd {
	switch {
	case p.panes.layout.Len() > 0:
		return p.show()
	case len(p.sessions.all) > 0:
		return p.open(p.sessions.all[0].id)
	}
	return nil
}

// showNextPending shows what needs the user next: the requests of other sessions, which the dashboard
// shows one after the other, then other sessions. After the last one it returns to the screen on which
// the walk began.
func (p *program) showNextPending() tea.Cmd {
	p.watch.request()
	now := place{layout: p.panes.layout, selected: p.dashboard.Selected()}
	if p.sessions.shown != nil {
		now.session = p.sessions.shown.id
		if p.navigation.visited == nil {
			if cmd, intent := p.dashboard.Act(keymap.NextPending); intent == nil {
				p.showDashboard()
				p.navigation = pendingNavigation{start: now, visited: map[string]bool{now.session: true}}
				return tea.Batch(p.updateDashboard(nil), cmd)
			}
		}
	}
	next, start := p.navigation.next(now, p.dashboard.List(), p.dashboard.Reachable)
	if next != "" {
		return p.open(next)
	}
	var cmd tea.Cmd
	p.panes.layout = start.layout
	if start.session != "" && start.layout.Len() > 0 {
		cmd = p.show()
	} else {
		p.showDashboard()
		p.dashboard.Select(start.selected)
	}
	p.showStatus("no other session needs you")
	return cmd
}

// showStatus shows a status message in the session with the focus, or on the dashboard.
func (p *program) showStatus(text string) {
	if p.sessions.shown != nil {
		p.sessions.shown.view.ShowStatus(text)
		return
	}
	p.dashboard.ShowStatus(text)
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
			if p.sessions.handleDeleted(s.Session); p.sessions.find(s.Session) == nil {
				p.panes.remove(s.Session)
			}
			p.navigation.start.layout = p.navigation.start.layout.Remove(s.Session)
		}
	}
	p.updateOthers()
	return tea.Batch(cmds...)
}

// updateOthers sets the number of other waiting sessions in the session with the focus, and marks
// those on the screen as read.
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
		if keys := p.styles.Keys; keys.Key(keymap.NextPending) != "" {
			others = keys.Mark(keymap.NextPending, others+": "+keys.Key(keymap.NextPending))
		}
	}
	shown.view.SetOthers(others)
}

// View draws the session on the screen, or the dashboard.
func (p *program) View() tea.View {
	var v tea.View
	if o := p.sessions.shown; o != nil {
		v = p.panes.view(p.sessions)
		v.ProgressBar = p.notifier.Progress(o.view.Session().State, o.view.Plan(), o.view.Session().Conn.State)
	} else {
		v = p.dashboard.View()
	}
	if p.dashboard != nil {
		if n := p.dashboard.List().CountWaiting(""); n > 0 {
			v.WindowTitle = fmt.Sprintf("(%d) ", n) + v.WindowTitle
		}
	}
	p.tour.draw(&v)
	if p.mouse.marks {
		v.Content = p.mouse.screen.Draw(v.Content)
	}
	if p.mouse.enabled {
		v.MouseMode = tea.MouseModeCellMotion
	}
	return v
}
