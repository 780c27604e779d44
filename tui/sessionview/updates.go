package sessionview

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/approval"
	"agentctl/tui/describe"
	"agentctl/tui/keymap"
	"agentctl/tui/remote"
	"agentctl/tui/ui"
)

// applyUpdates applies the updates of a frame. During a catch-up only its progress is redrawn.
func (v *View) applyUpdates(updates remote.Updates) tea.Cmd {
	live, progress := v.replica.CaughtUp, v.replica.Progress()
	for _, u := range updates {
		switch {
		case u.Event != nil:
			v.applyEvent(u.Event)
		case u.Attached != nil:
			v.attach(u.Attached)
		case u.Conn != nil:
			v.setConn(*u.Conn)
		}
	}
	v.canvas.Dirty = v.canvas.Dirty || v.replica.CaughtUp || v.replica.Progress() != progress
	v.updateTaskList()
	v.restoreUnsent(v.panels.decision.Refresh(live))
	if !v.focusUsable() {
		v.setFocus(onComposer)
	}
	var cmds []tea.Cmd
	for _, part := range v.panels.parts {
		if cmd := part.Updated(); cmd != nil {
			cmds = append(cmds, cmd)
		}
	}
	return tea.Batch(append(cmds, v.applyResult(v.transcript.ShowPendingHit()))...)
}

// focusUsable reports whether the part with the focus is still usable.
func (v *View) focusUsable() bool {
	switch v.focus {
	case onApproval, onPlan:
		return v.usable(v.focus)
	case onQueue:
		return v.panels.queue.Len() > 0
	}
	return true
}

// updateTaskList shows the plan's tasks in the transcript unless the plan panel shows them. A
// hidden view, used as a preview, has no plan panel.
func (v *View) updateTaskList() {
	v.transcript.View.SetTasksShownElsewhere(!v.hidden && v.panels.plan.Running() != nil)
}

// applyEvent applies an event to the replica and the parts.
func (v *View) applyEvent(e *protocol.Event) {
	if e.Type == protocol.CaughtUp {
		if missed := v.replica.FinishCatchup(v.Now()); missed != "" {
			v.transcript.View.AddMark(missed)
		}
		return
	}
	if err := v.replica.Apply(e); err != nil {
		v.status.Text = err.Error()
		return
	}
	for _, f := range v.panels.followers {
		f.Apply(e)
	}
}

// restoreUnsent puts what was written about a removed request into the message box, which
// takes the keys if they wrote it.
func (v *View) restoreUnsent(u approval.Unsent) {
	if u.Typing && v.focus == onApproval {
		v.setFocus(onComposer)
	}
	if u.Text == "" {
		return
	}
	v.input.Continue(u.Text, u.Typing)
	v.status.Text = "your text is in the message box" + ui.Prefixed(keymap.Separator, v.status.Text)
}

// setConn sets the state of the connection.
func (v *View) setConn(c remote.Conn) {
	if c.State == remote.Connected && !v.replica.Connected() {
		v.commands.Answers.Restart()
	}
	lost := v.replica.Connected() && c.State != remote.Connected
	v.replica.SetConn(c, v.Now())
	if lost {
		v.panels.queue.Disconnected()
	}
	v.panels.decision.SetOffline(c.State != remote.Connected)
	v.canvas.Dirty = true
}

// attach starts a catch-up.
func (v *View) attach(a *protocol.SubscribeResult) {
	before := v.replica.State
	if !v.replica.Attach(a) {
		if before.Session != "" && a.Position.Seq > before.Seq && v.replica.LongAway(v.Now()) {
			v.transcript.View.AddMark("the connection was lost here")
		}
		return
	}
	if a.Mode == protocol.ModeReset {
		v.status.Text = describe.Resubscribed(a.Mode, a.Reason)
	}
	v.input.Reset()
	v.transcript.Reset(a.After.Seq, v.canvas.Width, v.canvas.Height)
}

// ShowHit shows a hit of a search for text as soon as the catch-up is complete.
func (v *View) ShowHit(hit protocol.Hit, text string) tea.Cmd {
	v.canvas.Dirty = true
	return v.applyResult(v.transcript.ShowHit(hit, text))
}
