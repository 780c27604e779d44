package sessionview

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/tui/approval"
	"agentctl/tui/keymap"
	"agentctl/tui/sessionview/pane"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/sessionview/settings"
	"agentctl/tui/ui"
)

// focus identifies the part that receives the keys.
type focus uint8

const (
	onComposer focus = iota
	onApproval
	onQueue
	onPlan
	onTranscript
	focusCount
)

// handleInput handles the keys, pastes and mouse events that no overlay handles.
func (v *View) handleInput(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return v.press(msg)
	case tea.PasteMsg:
		return v.paste(msg.Content)
	case tea.MouseWheelMsg:
		if cmd, handled := v.updateLists(msg); handled {
			return cmd
		}
		if v.panels.side.Contains(msg.X, v.canvas.Width) {
			v.panels.side.Scroll(ui.WheelRows(msg))
			return nil
		}
		v.transcript.Scroll(ui.WheelRows(msg))
	case tea.MouseClickMsg:
		return v.click(msg)
	}
	return nil
}

// press handles a key. This is the one place that says which part takes it. A text field with the
// focus takes every key that writes. Other keys go to the part with the focus and to the global
// keys.
func (v *View) press(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	cleared := v.pressed.cleared
	v.pressed.cleared = nil
	if key != "ctrl+d" {
		v.pressed.deletion = false
	}
	if key != "esc" {
		v.pressed.escape = time.Time{}
	}
	if v.pressRestore(key, cleared) {
		return nil
	}
	switch {
	case v.panels.player != nil:
		return v.pressReplay(key)
	case v.panels.decision.Typing():
		return v.applyApprovalResult(v.panels.decision.PressTyping(msg))
	case v.focus == onComposer && v.startsShell(msg):
		v.composer.SetShell(true)
		return nil
	case v.focus == onComposer && ui.Writes(msg):
		v.composer.Press(msg)
		return nil
	case v.focus == onTranscript:
		if cmd, handled := v.transcript.PressCopyMode(key); handled {
			return cmd
		}
	}
	if cmd, handled := v.updateLists(msg); handled {
		return cmd
	}
	if v.focus == onQueue && v.Styles.Keys.At(keymap.Queue, key) != "" {
		return v.applyResult(v.panels.queue.Press(key)) // its paging keys are also global keys
	}
	if cmd, handled := v.pressGlobal(key); handled {
		return cmd
	}
	if r, handled := v.panels.decision.PressChord(key); handled {
		return v.applyApprovalResult(r)
	}
	switch v.focus {
	case onApproval:
		return v.applyApprovalResult(v.panels.decision.Press(key))
	case onQueue:
		return v.applyResult(v.panels.queue.Press(key))
	case onPlan:
		return v.applyResult(v.panels.plan.Press(key))
	case onTranscript:
		return v.applyPaneResult(v.transcript.Press(key))
	}
	return v.pressComposer(key, msg)
}

// pressGlobal handles the keys that work in every part.
func (v *View) pressGlobal(key string) (cmd tea.Cmd, handled bool) {
	return v.act(v.Styles.Keys.At(keymap.Global, key))
}

// act carries out an action of the global scope.
func (v *View) act(action keymap.Action) (cmd tea.Cmd, handled bool) {
	if r, handled := v.transcript.Act(action); handled {
		return v.applyPaneResult(r), true
	}
	switch action {
	case keymap.Help:
		v.showHelp()
	case keymap.ReleaseQueue:
		return v.panels.queue.Release(), true
	case keymap.ClearQueue:
		return v.applyResult(v.panels.queue.Clear()), true
	case keymap.ShowSettings:
		v.overlays.Push(settings.New(v.Styles, v.replica, v.commands).Menu())
	case keymap.ShowRules:
		v.overlays.Push(settings.NewRules(v.Styles, v.replica, v.commands))
	case keymap.ShowContext:
		page, cmd := v.usage.OpenPage(v.Styles)
		v.overlays.Push(page)
		return cmd, true
	case keymap.ShowSessions, keymap.NextPending:
		// A program with several sessions handles these keys itself.
		v.status.Text = "session list not available here"
	case keymap.FocusNext:
		v.cycleFocus(1)
	case keymap.FocusPrevious:
		v.cycleFocus(-1)
	case keymap.Interrupt:
		return v.panels.interrupt.Start(), true
	case keymap.OpenEditor:
		return v.composeInEditor(), true
	case keymap.EarlierMessage:
		return v.earlierMessage(), true
	case keymap.LaterMessage:
		v.setFocus(onComposer)
		v.composer.Recall(-1, v.replica.Conn.By)
	case keymap.Reconnect:
		return v.panels.connection.Retry(), true
	case keymap.NextTheme:
		return func() tea.Msg { return ui.ThemeMsg{Theme: v.Styles.NextTheme()} }, true
	case keymap.ExportSession:
		return v.files.Export(""), true
	case keymap.ChooseTheme:
		v.overlays.Push(ui.NewThemeMenu(v.Styles))
	case keymap.ChooseImages:
		v.overlays.Push(ui.NewImagesMenu(v.Styles))
	case keymap.ToggleSide:
		return v.applyResult(v.panels.side.Toggle(v.canvas.Width)), true
	case keymap.Redraw:
		return tea.Batch(tea.ClearScreen, tea.Raw(v.Styles.Images.Entered())), true
	case keymap.Suspend:
		if cmd, ok := v.panels.queue.Undo(); ok {
			return cmd, true
		}
		return tea.Suspend, true
	case keymap.SearchPrompts:
		v.searchPrompts()
	case keymap.TakeBack:
		return v.panels.outbox.TakeBack(), true
	default:
		return nil, false
	}
	return nil, true
}

// applyResult carries out a result of a panel.
func (v *View) applyResult(r panel.Result) tea.Cmd {
	v.leaveFocus(r.Leave)
	if r.Push != nil {
		v.overlays.Push(r.Push)
	}
	if r.Edit != nil {
		return v.editQueued(*r.Edit)
	}
	return r.Cmd
}

// applyApprovalResult carries out a result of the approval panel.
func (v *View) applyApprovalResult(r approval.Result) tea.Cmd {
	v.leaveFocus(r.Leave)
	if r.Focus {
		v.setFocus(onApproval)
	}
	if r.Status != "" {
		v.status.Text = r.Status
	}
	if r.Push != nil {
		v.overlays.Push(r.Push)
	}
	switch {
	case r.Decide != nil:
		return v.panels.decision.Send(*r.Decide)
	case r.Edit != nil:
		return v.screen.Edit(*r.Edit)
	}
	return nil
}

// applyPaneResult carries out a result of the transcript.
func (v *View) applyPaneResult(r pane.Result) tea.Cmd {
	v.leaveFocus(r.Leave)
	if r.Focus {
		v.setFocus(onTranscript)
	}
	if r.Push != nil {
		v.overlays.Push(r.Push)
	}
	if r.Help {
		v.showHelp()
	}
	return r.Cmd
}

// paste inserts a pasted text where the user is typing.
func (v *View) paste(text string) tea.Cmd {
	switch {
	case v.panels.player != nil:
	case v.panels.decision.Typing():
		v.panels.decision.Paste(text)
	case v.focus == onComposer:
		return v.pasteInComposer(text)
	}
	return nil
}

// cycleFocus moves the focus by one (by = 1 or -1), skipping parts that are not usable.
func (v *View) cycleFocus(by int) {
	for range focusCount {
		v.setFocus((v.focus + focus(by+int(focusCount))) % focusCount)
		if v.usable(v.focus) {
			return
		}
	}
}

// usable reports whether a part can take the focus.
func (v *View) usable(f focus) bool {
	if v.panels.player != nil && f != onTranscript {
		return f == onComposer
	}
	switch f {
	case onApproval:
		return v.panels.decision.Visible()
	case onQueue:
		return v.panels.queue.Visible()
	case onPlan:
		return v.panels.plan.Running() != nil
	case onTranscript:
		return v.transcript.View.List.Len() > 0
	}
	return true
}

// setFocus moves the focus to a part.
func (v *View) setFocus(f focus) {
	v.focus = f
	v.panels.decision.SetFocus(f == onApproval)
	v.transcript.SetFocus(f == onTranscript)
	v.composer.SetFocus(f == onComposer)
	v.panels.queue.SetFocus(f == onQueue)
	v.panels.plan.SetFocus(f == onPlan)
}

// leaveFocus moves the focus to the composer if leave is set.
func (v *View) leaveFocus(leave bool) {
	if leave {
		v.setFocus(onComposer)
	}
}

// scope returns the scope of a part's keys. The composer has those of the global scope too.
func (f focus) scope() keymap.Scope {
	return map[focus]keymap.Scope{
		onComposer: keymap.Global, onApproval: keymap.Approval, onQueue: keymap.Queue, onPlan: keymap.Plan,
		onTranscript: keymap.Transcript,
	}[f]
}

// Scope returns the scope of the part with the focus: the overlay on top, or a part of the view.
func (v *View) Scope() keymap.Scope {
	if top := v.overlays.Top(); top != nil {
		return top.Scope()
	}
	return v.focus.scope()
}

// showHelp opens the help of the part with the focus.
func (v *View) showHelp() {
	scope := v.focus.scope()
	if v.panels.player != nil && v.focus == onComposer {
		scope = keymap.Player
	}
	v.overlays.Push(ui.NewHelp(v.Styles, scope))
}
