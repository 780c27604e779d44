package sessionview

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/approval"
	"agentctl/tui/changes"
	"agentctl/tui/keymap"
	"agentctl/tui/palette"
	"agentctl/tui/sessionview/contextview"
	"agentctl/tui/sessionview/input"
	"agentctl/tui/sessionview/panel"
	"agentctl/tui/sessionview/settings"
	"agentctl/tui/ui"
)

// listActions returns the actions of all parts, and those on the screen as a whole. A new part with
// actions needs its place here.
func (v *View) listActions() panel.Actions {
	// A program with several sessions handles these keys itself.
	noList := panel.Do(func() { v.status.Text = "session list not available here" })
	p := &v.panels
	return panel.Join(
		v.input.Actions(), p.queue.Actions(), p.interrupt.Actions(), p.connection.Actions(), p.outbox.Actions(),
		contextview.Actions(v.base), v.files.Actions(), settings.Actions(v.base, v.overlays),
		appearanceActions(v.Styles, v.status), v.transcript.Actions(), panel.Actions{
			keymap.Help:          panel.Do(v.showHelp),
			keymap.ShowSessions:  noList,
			keymap.NextPending:   noList,
			keymap.SendPanes:     {Text: true, Run: noList.Run},
			keymap.FocusNext:     panel.Do(func() { v.cycleFocus(1) }),
			keymap.FocusPrevious: panel.Do(func() { v.cycleFocus(-1) }),
			keymap.ToggleSide: {Run: func(string) panel.Result {
				return v.panels.side.Toggle(v.canvas.Width)
			}},
			keymap.Suspend: panel.Run(func() tea.Cmd {
				if cmd, ok := v.panels.queue.Undo(); ok {
					return cmd
				}
				return tea.Suspend
			}),
			keymap.Quit: panel.Run(func() tea.Cmd { return tea.Quit }),
		})
}

// act carries out an action. It reports false if no part has it.
func (v *View) act(action keymap.Action, text string) (cmd tea.Cmd, handled bool) {
	a, ok := v.actions[action]
	if !ok {
		return nil, false
	}
	return v.applyResult(a.Run(text)), true
}

// actAnywhere carries out the actions that work in every overlay and every text field: the help, the
// interrupt, and actions of the transcript while a field beside it has the focus.
func (v *View) actAnywhere(action keymap.Action, top ui.Overlay) (cmd tea.Cmd, handled bool) {
	switch action {
	case keymap.Interrupt:
		if v.panels.player == nil {
			return v.act(action, "")
		}
	case keymap.PageUp, keymap.PageDown, keymap.ToggleLast:
		if action != keymap.ToggleLast && top != nil && top.Scope() == keymap.Lists {
			return nil, false // the list has pages
		}
		_, isPalette := top.(*palette.Palette)
		typing := v.panels.decision.Typing()
		beside := !isPalette && (top == nil && typing || top != nil && !top.FullScreen())
		if beside {
			cmd, _ = v.act(action, "")
		}
		return cmd, beside
	case keymap.Help:
		if top == nil {
			v.showHelp()
		}
		return nil, top == nil
	}
	return nil, false
}

// applyResult carries out a result of a part.
func (v *View) applyResult(r panel.Result) tea.Cmd {
	switch {
	case r.Leave:
		v.setFocus(onComposer)
	case r.Focus:
		v.setFocus(onTranscript)
	case r.ToQueue && v.panels.queue.Len() > 0:
		v.setFocus(onQueue)
	}
	if r.Push != nil {
		v.overlays.Push(r.Push)
	}
	if r.Text != "" {
		v.KeepText(r.Text)
	}
	switch {
	case r.Edit != nil:
		v.setFocus(onComposer)
		return v.input.EditQueued(*r.Edit)
	case r.Intent != nil:
		return v.handleIntent(r.Intent)
	}
	return r.Cmd
}

// applyApprovalResult carries out a result of the approval panel.
func (v *View) applyApprovalResult(r approval.Result) tea.Cmd {
	if r.Leave {
		v.setFocus(onComposer)
	}
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
		return v.panels.decision.Decide(r)
	case r.Edit != nil:
		return v.screen.Edit(*r.Edit)
	}
	return nil
}

// handleIntent carries out an intent of a part or an overlay.
func (v *View) handleIntent(intent ui.Intent) tea.Cmd {
	switch i := intent.(type) {
	case panel.RunIntent:
		return v.runAction(i)
	case palette.Command:
		return v.runCommand(i)
	case panel.Result:
		return v.applyResult(i)
	case approval.Result:
		return v.applyApprovalResult(i)
	case ui.EditIntent:
		return v.screen.Edit(i)
	case panel.OpenIntent, panel.CompareIntent, changes.Closed:
		v.intent = i
		return nil
	}
	return v.input.HandleIntent(intent)
}

// runCommand runs a command of the palette or of the list beside the message.
func (v *View) runCommand(c palette.Command) tea.Cmd {
	v.canvas.Dirty = true
	v.View() // the action sees the screen without the list
	v.canvas.Dirty = true
	if c.Action == "" {
		return v.applyResult(v.input.RunCommand(c))
	}
	return v.runAction(panel.RunIntent{Action: c.Action})
}

// runAction runs the action of a command. The program carries out those that leave the session.
func (v *View) runAction(i panel.RunIntent) tea.Cmd {
	if v.Sessions && input.LeavesSession(i.Action) {
		v.intent = ui.ActionIntent{Action: i.Action, Text: i.Text}
		return nil
	}
	cmd, _ := v.act(i.Action, i.Text)
	return cmd
}

// newPalette returns the palette, or nil if the overlay on top is one.
func (v *View) newPalette(top ui.Overlay) ui.Overlay {
	if _, isPalette := top.(*palette.Palette); isPalette {
		return nil
	}
	return palette.New(v.Styles, v.input.AllCommands)
}

// showHelp opens the help of the part with the focus.
func (v *View) showHelp() {
	scope := v.focus.scope()
	if v.panels.player != nil && v.focus == onComposer {
		scope = keymap.Player
	}
	v.overlays.Push(ui.NewHelp(v.Styles, scope))
}
