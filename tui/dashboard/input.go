package dashboard

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"agentctl/internal/format"
	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/ui"
)

// handleInput handles keys and mouse events that no overlay handled.
func (d *Dashboard) handleInput(msg tea.Msg) (tea.Cmd, ui.Intent) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return d.press(msg.String())
	case tea.MouseWheelMsg:
		d.moveSelection(ui.WheelRows(msg))
	case tea.MouseClickMsg:
		return nil, d.click(msg)
	}
	return nil, nil
}

// press handles a key, global keys first.
func (d *Dashboard) press(key string) (tea.Cmd, ui.Intent) {
	keys := d.Styles.Keys
	if cmd, intent, handled := d.actGlobal(cmp.Or(keys.At(keymap.Global, key), keys.At(keymap.Panes, key))); handled {
		return cmd, intent
	}
	return d.pressList(d.Styles.Keys.InList(keymap.Sessions, key))
}

// actGlobal carries out an action of the global scope.
func (d *Dashboard) actGlobal(action keymap.Action) (cmd tea.Cmd, intent ui.Intent, handled bool) {
	switch action {
	case keymap.Help:
		d.overlays.Push(ui.NewHelp(d.Styles, keymap.Sessions))
	case keymap.ShowSessions:
		return nil, BackIntent{}, true
	case keymap.NextPending:
		return nil, ui.ActionIntent{Action: action}, true
	case keymap.SplitRight, keymap.SplitBelow:
		return nil, d.splitSelected(action), true
	case keymap.JumpSession:
		d.OpenJump(false)
	case keymap.Find:
		d.openSearch()
	case keymap.ChooseTheme:
		d.overlays.Push(ui.NewThemeMenu(d.Styles))
	case keymap.ChooseImages:
		d.overlays.Push(ui.NewImagesMenu(d.Styles))
	case keymap.Reconnect:
		return d.reconnect(), nil, true
	case keymap.PageUp:
		d.moveSelection(-d.pageSize())
	case keymap.PageDown:
		d.moveSelection(d.pageSize())
	case keymap.Redraw:
		return tea.ClearScreen, nil, true
	case keymap.Suspend:
		return tea.Suspend, nil, true
	default:
		return nil, nil, false
	}
	return nil, nil, true
}

// pressList handles an action on the list.
func (d *Dashboard) pressList(action keymap.Action) (tea.Cmd, ui.Intent) {
	switch action {
	case keymap.Up:
		d.moveSelection(-1)
	case keymap.Down:
		d.moveSelection(1)
	case keymap.First:
		d.moveSelection(-d.list.Len())
	case keymap.Last:
		d.moveSelection(d.list.Len())
	case keymap.SearchSessions:
		d.openSearch()
	case keymap.FilterSessions:
		d.overlays.Push(d.newFilterBar())
	case keymap.SortSessions:
		d.list.SetOrder(d.list.Order().Next())
	case keymap.TogglePreview:
		d.preview.on, d.preview.chosen = !d.previewOn(), true
	case keymap.NewSession:
		d.openCreate()
	case keymap.SessionsHelp:
		d.overlays.Push(ui.NewHelp(d.Styles, keymap.Sessions))
	case keymap.MarkShown:
		d.markShown()
	case keymap.Back:
		if len(d.marks.sessions) > 0 {
			clear(d.marks.sessions)
			return nil, nil
		}
		if d.filter != "" {
			d.setFilter("")
			return nil, nil
		}
		return nil, BackIntent{}
	default:
		if s, ok := d.current(); ok {
			return d.pressSession(action, &s)
		}
	}
	return nil, nil
}

// pressSession handles an action on the selected session.
func (d *Dashboard) pressSession(action keymap.Action, s *protocol.Summary) (tea.Cmd, ui.Intent) {
	if err := d.servers.refuse(s.Session); err != nil && changesSession(action) && len(d.marks.sessions) == 0 {
		d.status.Text = err.Error()
		return nil, nil
	}
	switch action {
	case keymap.Choose, keymap.OpenSession:
		return nil, OpenIntent{s.Session}
	case keymap.MarkSession:
		d.marks.toggle(s.Session)
		d.moveSelection(1)
	case keymap.ToggleChildren:
		d.list.ToggleCollapsed(s.Session)
	case keymap.LabelSession:
		d.overlays.Push(d.labelForm(d.targets()))
	case keymap.DenySessions, keymap.StopSessions, keymap.SendSessions:
		return d.pressSeveral(action), nil
	case keymap.RenameSession:
		d.overlays.Push(d.renameForm(s))
	case keymap.CloseOrDelete:
		if len(d.marks.sessions) > 0 {
			return d.pressSeveral(action), nil
		}
		d.overlays.Push(d.closeQuestion(s))
	case keymap.DecideRequest:
		if len(d.marks.sessions) > 0 {
			return d.decideMarked()
		}
		return d.openApproval(s)
	}
	return nil, nil
}

// changesSession reports whether an action on the selected session sends a command to it.
func changesSession(action keymap.Action) bool {
	switch action {
	case keymap.LabelSession, keymap.DenySessions, keymap.StopSessions, keymap.SendSessions, keymap.RenameSession,
		keymap.CloseOrDelete, keymap.DecideRequest:
		return true
	}
	return false
}

// pressSeveral handles an action on the marked sessions, or the selected one.
func (d *Dashboard) pressSeveral(action keymap.Action) tea.Cmd {
	sessions := d.targets()
	count := format.Count(len(sessions), "session")
	switch action {
	case keymap.DenySessions:
		waiting := slices.DeleteFunc(slices.Clone(sessions), func(s protocol.Summary) bool {
			return s.Status != protocol.Waiting
		})
		if len(waiting) == 0 {
			d.status.Text = "no request to deny in " + count
			return nil
		}
		d.overlays.Push(d.denyForm(waiting))
	case keymap.SendSessions:
		d.overlays.Push(d.messageForm(sessions))
	case keymap.StopSessions:
		d.ask("interrupt the turns of "+d.namesOf(sessions)+"?", "Interrupt", interruptAction(), sessions)
	case keymap.CloseOrDelete:
		d.ask("close "+d.namesOf(sessions)+"?", "Close, keep the history", closeAction(), sessions)
	}
	return nil
}

// ask asks before an action on sessions.
func (d *Dashboard) ask(title, yes string, a action, sessions []protocol.Summary) {
	d.overlays.Push(ui.NewQuestion(d.Styles, title, ui.Choice{
		Label: yes, Run: func() tea.Cmd { return d.runAction(a, sessions) },
	}))
}

// openApproval opens the approval dialog for a session. With several pending requests it opens the
// session.
func (d *Dashboard) openApproval(s *protocol.Summary) (tea.Cmd, ui.Intent) {
	switch {
	case s.Status != protocol.Waiting:
		d.status.Text = sessionName(s) + " has no request"
		return nil, nil
	case s.Approvals > 1:
		return nil, OpenIntent{s.Session}
	}
	dialog := d.newApprovalDialog(s)
	d.overlays.Push(dialog)
	return dialog.fetch(), nil
}

// keepText adds what was written about a request that is gone to the unsent message of its session.
// It returns where it is, or "" if there is none.
func (d *Dashboard) keepText(session, text string) (where string) {
	s, ok := d.list.Get(session)
	if !ok || text == "" {
		return ""
	}
	d.Open.KeepText(session, text)
	return "your text is in the message box of " + sessionName(&s)
}

// selectedIndex returns the index of the selected session, or -1 if the list is empty. If the
// session is gone, it returns the index nearest to its last one.
func (d *Dashboard) selectedIndex() int {
	if i := d.list.Index(d.selected.session); i >= 0 {
		d.selected.index = i
	}
	return min(d.selected.index, d.list.Len()-1)
}

// current returns the selected session. It returns false if the list is empty.
func (d *Dashboard) current() (protocol.Summary, bool) {
	at := d.selectedIndex()
	if at < 0 {
		return protocol.Summary{}, false
	}
	return d.list.At(at), true
}

// Selected returns the ID of the selected session, or "".
func (d *Dashboard) Selected() string {
	s, _ := d.current()
	return s.Session
}

// Select selects a session.
func (d *Dashboard) Select(session string) {
	d.selected.session = session
	d.selectedIndex()
	d.canvas.Dirty = true
}

// moveSelection moves the selection by a number of rows, within the list.
func (d *Dashboard) moveSelection(by int) {
	if n := d.list.Len(); n > 0 {
		i := min(max(d.selectedIndex()+by, 0), n-1)
		d.selected = selection{d.list.At(i).Session, i}
	}
}

// setFilter filters the list. An empty filter shows all sessions.
func (d *Dashboard) setFilter(filter string) {
	d.filter = filter
	d.list.SetFilter(filter)
}

// click selects the session at a mouse position. If it is already selected, click returns the
// intent to open it.
func (d *Dashboard) click(msg tea.MouseClickMsg) ui.Intent {
	layout := d.layout()
	list := d.listLayout(layout.bodyRows())
	row := msg.Y - 1 - (layout.listRows - layout.bodyRows())
	line := list.window(d.selectedIndex(), layout.bodyRows()) + row
	if msg.Button != tea.MouseLeft || msg.X >= layout.listWidth || row < 0 || row >= layout.bodyRows() ||
		line >= list.lines() {
		return nil
	}
	at := list.at(line)
	if !at.isSession() {
		return nil
	}
	s := d.list.At(at.index)
	if at.index == d.selectedIndex() {
		return OpenIntent{s.Session}
	}
	d.Select(s.Session)
	return nil
}

// SplitIntent shows a session beside that with the focus, as its action says: keymap.SplitRight or
// keymap.SplitBelow.
type SplitIntent struct {
	Session string
	Action  keymap.Action
}

// OpenSplit opens the jump that chooses the session of a split. esc returns to the sessions that
// were shown.
func (d *Dashboard) OpenSplit(action keymap.Action) {
	d.openJump(true, "split: choose the session", func(session string) ui.Intent { return SplitIntent{session, action} })
}

// splitSelected returns the intent of a split with the selected session, or nil.
func (d *Dashboard) splitSelected(action keymap.Action) ui.Intent {
	if session := d.Selected(); session != "" {
		return SplitIntent{session, action}
	}
	return nil
}
