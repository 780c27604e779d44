package dashboard

import (
	"maps"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/keymap"
	"agentctl/tui/palette"
	"agentctl/tui/ui"
)

// handleInput handles keys and mouse events that no overlay handled.
func (d *Dashboard) handleInput(msg tea.Msg) (tea.Cmd, ui.Intent) {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return d.press(msg.String())
	case tea.MouseWheelMsg:
		d.table.move(ui.WheelRows(msg))
	case ui.RowMsg:
		at := d.table.selectedIndex()
		if msg.List == sessionRows && msg.Wheel == 0 && msg.Row == at {
			return nil, OpenIntent{d.Selected()}
		}
		if msg.List == sessionRows {
			d.table.move(msg.Target(at) - at)
		}
	}
	return nil, nil
}

// press handles a key, global keys first.
func (d *Dashboard) press(key string) (tea.Cmd, ui.Intent) {
	keys := d.Styles.Keys
	if cmd, intent, handled := d.actGlobal(keys.At(keymap.Global, key)); handled {
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
		except := "" // the session that covers the screen shows its requests
		if d.covered {
			except = d.Selected()
		}
		if !d.walk.begin(nil, except) {
			return nil, ui.ActionIntent{Action: action}, true
		}
		cmd, intent = d.decideNext()
		return cmd, intent, true
	case keymap.SplitRight, keymap.SplitBelow:
		return nil, d.splitSelected(action), true
	case keymap.JumpSession:
		d.OpenJump(false)
	case keymap.Find:
		d.overlays.Push(newSearchResults(d.requests, d.table.list, d.notice))
	case keymap.ChooseTheme:
		d.overlays.Push(ui.NewThemeMenu(d.Styles))
	case keymap.Reconnect:
		return d.reconnect(), nil, true
	case keymap.PageUp:
		d.table.move(-d.table.pageSize(d.layout().table))
	case keymap.PageDown:
		d.table.move(d.table.pageSize(d.layout().table))
	case keymap.Interrupt:
		cmd, intent = d.pressList(action)
		return cmd, intent, true
	case keymap.SwitchMouse:
		return ui.SwitchMouse, nil, true
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
		d.table.move(-1)
	case keymap.Down:
		d.table.move(1)
	case keymap.First:
		d.table.move(-d.table.list.Len())
	case keymap.Last:
		d.table.move(d.table.list.Len())
	case keymap.ListFind:
		d.overlays.Push(d.table.filterForm())
	case keymap.SortSessions:
		d.table.list.ChooseOrder(d.table.list.NextOrder())
	case keymap.TogglePreview:
		d.preview.toggle(d.canvas.Width, d.canvas.Height)
	case keymap.NewSession:
		d.openCreate()
	case keymap.CompareAgents:
		d.overlays.Push(newCompareForm(compareConfig{d.creator, d.Worktree}))
	case keymap.ListHelp:
		d.overlays.Push(ui.NewHelp(d.Styles, keymap.Sessions))
	case keymap.MarkShown:
		d.table.markShown()
	case keymap.Back:
		if len(d.table.marked) > 0 {
			clear(d.table.marked)
			return nil, nil
		}
		if d.table.filter != "" {
			d.table.setFilter("")
			return nil, nil
		}
		return nil, BackIntent{}
	default:
		if s, ok := d.table.current(); ok {
			return d.pressSession(action, &s)
		}
	}
	return nil, nil
}

// pressSession handles an action on the selected session.
func (d *Dashboard) pressSession(action keymap.Action, s *protocol.Summary) (tea.Cmd, ui.Intent) {
	if err := d.servers.refuse(s.Session); err != nil && changesSession(action) && len(d.table.marked) == 0 {
		d.status.Text = err.Error()
		return nil, nil
	}
	switch action {
	case keymap.Choose, keymap.Open:
		return nil, OpenIntent{s.Session}
	case keymap.MarkSession:
		d.table.toggleMark(s.Session)
		d.table.move(1)
	case keymap.Fold:
		d.table.list.ToggleCollapsed(s.Session)
	case keymap.LabelSession:
		d.overlays.Push(labelForm(d.bulk, d.table.targets()))
	case keymap.ArchiveSession:
		return d.bulk.toggleLabel(protocol.LabelArchived, d.table.targets()), nil
	case keymap.PinSession:
		return d.bulk.toggleLabel(protocol.LabelPinned, d.table.targets()), nil
	case keymap.Edit, keymap.RenameSession:
		d.overlays.Push(renameForm(d.requests, s))
	case keymap.Remove:
		if len(d.table.marked) == 0 {
			d.overlays.Push(closeQuestion(d.requests, s))
			break
		}
		fallthrough
	case keymap.DenySessions, keymap.Interrupt, keymap.SendSessions:
		if o := d.bulk.press(action, d.table.targets()); o != nil {
			d.overlays.Push(o)
		}
	case keymap.DecideRequest:
		if len(d.table.marked) == 0 {
			return d.approvals.show(s), nil
		}
		if !d.walk.begin(maps.Clone(d.table.marked), "") {
			d.status.Text = "no marked session has a request that can be decided"
			return nil, nil
		}
		return d.decideNext()
	}
	return nil, nil
}

// changesSession reports whether an action on the selected session sends a command to it.
func changesSession(action keymap.Action) bool {
	switch action {
	case keymap.LabelSession, keymap.DenySessions, keymap.Interrupt, keymap.SendSessions, keymap.Edit, keymap.RenameSession,
		keymap.Remove, keymap.DecideRequest, keymap.ArchiveSession, keymap.PinSession:
		return true
	}
	return false
}

// decideNext shows the next request of the walk, if no overlay is open.
func (d *Dashboard) decideNext() (tea.Cmd, ui.Intent) {
	if d.overlays.Top() != nil {
		return nil, nil
	}
	s, ok := d.walk.next()
	if !ok {
		return nil, WalkEndedIntent{Next: d.walk.skipped}
	}
	delete(d.table.marked, s.Session)
	d.Select(s.Session)
	return d.approvals.show(&s), nil
}

// openCreate opens the form that creates a session, unless it is open, or the start page if there is
// no session.
func (d *Dashboard) openCreate() {
	if _, open := d.overlays.Top().(*createForm); open {
		return
	}
	if d.Start.Agents == nil || d.table.list.Total() > 0 {
		d.overlays.Push(d.creator.open())
		return
	}
	d.overlays.Push(newStartPage(&d.Start, d.requests, d.Exec, d.creator))
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

// newPalette returns the palette, or nil if the overlay on top is one.
func (d *Dashboard) newPalette(top ui.Overlay) ui.Overlay {
	if _, isPalette := top.(*palette.Palette); isPalette {
		return nil
	}
	return palette.New(d.Styles, func() []palette.Command {
		return palette.OfScreen(d.Styles.Keys, keymap.OnDashboard, keymap.Sessions)
	})
}

// Act carries out an action of the list or of the global scope.
func (d *Dashboard) Act(action keymap.Action) (tea.Cmd, ui.Intent) {
	d.canvas.Dirty = true
	if action == keymap.Quit {
		return tea.Quit, nil
	}
	if cmd, intent, handled := d.actGlobal(action); handled {
		return cmd, intent
	}
	return d.pressList(action)
}

// Scope returns the scope of the part with the focus: the overlay on top, or the list.
func (d *Dashboard) Scope() keymap.Scope {
	if top := d.overlays.Top(); top != nil {
		return top.Scope()
	}
	return keymap.Sessions
}
