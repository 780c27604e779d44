package sessionview

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"
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
		if v.panels.side.Contains(msg.X, v.canvas.Width) {
			v.panels.side.Scroll(ui.WheelRows(msg))
			return nil
		}
		v.transcript.Scroll(ui.WheelRows(msg))
	case tea.MouseClickMsg:
		if msg.Button == tea.MouseLeft && !v.panels.side.Contains(msg.X, v.canvas.Width) {
			return v.transcript.Click(msg.Y)
		}
	case ui.RowMsg:
		if r, handled := v.input.HandleList(msg); handled {
			return v.applyResult(r)
		}
		return v.point(msg)
	}
	return nil
}

// press handles a key. This is the one place that says which part takes it. A text field with the
// focus takes every key that writes. Other keys go to the part with the focus and to the global
// keys.
func (v *View) press(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if v.input.Begin(key) {
		return nil
	}
	switch {
	case v.panels.player != nil:
		return v.pressReplay(key)
	case v.panels.decision.Typing():
		return v.applyApprovalResult(v.panels.decision.Press(msg))
	case v.focus == onComposer && v.input.Write(msg):
		return nil
	case v.focus == onTranscript:
		if cmd, handled := v.transcript.PressCopyMode(key); handled {
			return cmd
		}
	}
	if r, handled := v.input.HandleList(msg); handled {
		return v.applyResult(r)
	}
	action := v.Styles.Keys.At(keymap.Global, key)
	if v.focus == onQueue && (action == keymap.PageUp || action == keymap.PageDown) {
		return v.applyResult(v.panels.queue.Press(key))
	}
	if cmd, handled := v.act(action, ""); handled {
		return cmd
	}
	if r, handled := v.panels.decision.PressChord(key); handled {
		return v.applyApprovalResult(r)
	}
	switch v.focus {
	case onApproval:
		return v.applyApprovalResult(v.panels.decision.Press(msg))
	case onQueue:
		return v.applyResult(v.panels.queue.Press(key))
	case onPlan:
		return v.applyResult(v.panels.plan.Press(key))
	case onTranscript:
		return v.applyResult(v.transcript.Press(key))
	}
	return v.applyResult(v.input.Press(msg))
}

// paste inserts a pasted text where the user is typing.
func (v *View) paste(text string) tea.Cmd {
	switch {
	case v.panels.player != nil:
	case v.panels.decision.Typing():
		v.panels.decision.Paste(text)
	case v.focus == onComposer:
		return v.input.Paste(text)
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
		return v.panels.decision.Current() != nil
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
	v.input.SetFocus(f == onComposer)
	v.panels.queue.SetFocus(f == onQueue)
	v.panels.plan.SetFocus(f == onPlan)
}

// scope returns the scope of a part's keys. The composer has the keys of the global scope too.
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

// helpHint returns the key that opens the help of a part.
func (f focus) helpHint(keys *keymap.Map) string {
	if f == onTranscript && keys.Key(keymap.ListHelp) != "" {
		return keys.Hint(keymap.ListHelp, "help")
	}
	return keys.Hint(keymap.Help, "help")
}
