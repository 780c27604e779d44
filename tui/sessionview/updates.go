package sessionview

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
	"agentctl/tui/describe"
	"agentctl/tui/remote"
)

// apply takes the updates of a frame. Until the catch-up is over only its progress is drawn.
func (v *View) apply(updates remote.Updates) tea.Cmd {
	live, progress := v.replica.caughtUp, v.replica.progress()
	for _, u := range updates {
		switch {
		case u.Event != nil:
			v.applyEvent(u.Event)
		case u.Attached != nil:
			v.attached(u.Attached)
		case u.Conn != nil:
			v.setConn(*u.Conn)
		}
	}
	v.canvas.Dirty = v.canvas.Dirty || v.replica.caughtUp || v.replica.progress() != progress
	s := v.replica.state
	v.panels.outbox.settle(s.Seq)
	v.listPlan()
	v.panels.approvals.Update(s.Approvals, v.Now(), live)
	if !v.stillUsable() {
		v.setFocus(onComposer)
	}
	if e := v.composer.Editing; e != "" && s.QueueIndex(e) < 0 {
		v.composer.EndEdit()
		v.status.Text = "the edited message is no longer queued"
	}
	if question := v.panels.interrupt.expire(); question != nil {
		v.overlays.Remove(question)
	}
	return tea.Batch(v.arm(), v.renewHold(), v.searchGoal())
}

// stillUsable reports whether the part with the focus still has something to use.
func (v *View) stillUsable() bool {
	switch v.focus {
	case onApproval, onPlan:
		return v.usable(v.focus)
	case onQueue:
		return len(v.replica.state.Queue) > 0
	}
	return true
}

// listPlan makes the transcript list the plan's tasks unless the panel does. A preview has no panel.
func (v *View) listPlan() {
	v.transcript.view.SetTasksShownElsewhere(!v.hidden && v.panels.plan.plan() != nil)
}

func (v *View) applyEvent(e *protocol.Event) {
	r := v.replica
	switch e.Type {
	case protocol.ClientAttached, protocol.ClientLag:
		c := remote.DecodeData[protocol.Client](e.Data)
		r.clients[c.Client] = *c
		return
	case protocol.ClientDetached:
		c := remote.DecodeData[protocol.Client](e.Data)
		v.panels.holds.disconnected(c.By)
		delete(r.clients, c.Client)
		return
	case protocol.CaughtUp:
		v.caughtUp()
		return
	}
	if !e.Durable() {
		return
	}
	v.panels.outbox.apply(e)
	r.away.Apply(e)
	v.noteRemoval(e)
	if err := r.state.Apply(e); err != nil {
		v.status.Text = err.Error()
		return
	}
	v.panels.plan.apply(e)
	v.usage.tracker.Apply(e, v.Now(), r.caughtUp)
	if err := v.transcript.view.Apply(e); err != nil {
		v.status.Text = err.Error()
	}
	switch e.Type {
	case protocol.MessageUser:
		v.composer.AddPast(e)
	case protocol.ApprovalResolved:
		v.noteDecision(e)
	}
}

// noteRemoval says that another user removed the selected message.
func (v *View) noteRemoval(e *protocol.Event) {
	if e.Type != protocol.QueueRemoved || v.focus != onQueue || e.By == nil || *e.By == v.replica.conn.By {
		return
	}
	d := remote.DecodeData[protocol.QueueRemovedData](e.Data)
	if d.MessageID == v.panels.queue.selected && d.Reason != protocol.RemovedStarted {
		v.status.Text = remote.ActorName(e.By) + " removed the selected message"
	}
}

// noteDecision says how a request was decided, unless the decision was made here.
func (v *View) noteDecision(e *protocol.Event) {
	d := remote.DecodeData[protocol.ApprovalResolvedData](e.Data)
	sending, known := v.panels.approvals.Sending(d.Request)
	if !known || sending && e.By != nil && *e.By == v.replica.conn.By {
		return
	}
	v.status.Text = describe.Outcome(d, e.By)
}

// setConn notes the state of the connection.
func (v *View) setConn(c remote.Conn) {
	lost := v.replica.connected() && c.State != remote.Connected
	v.replica.setConn(c, v.Now())
	if lost {
		v.panels.holds.disconnected(v.replica.conn.By)
	}
	v.panels.approvals.SetOffline(c.State != remote.Connected)
	v.canvas.Dirty = true
}

// attached begins a catch-up.
func (v *View) attached(a *protocol.SubscribeResult) {
	before := v.replica.state
	if !v.replica.attach(a) {
		if before.Session != "" && a.Position.Seq > before.Seq && v.replica.away.Long(v.Now()) {
			v.transcript.view.AddMark("the connection was lost here")
		}
		return
	}
	if a.Mode == protocol.ModeReset {
		v.status.Text = describe.Resubscribed(a.Mode, a.Reason)
	}
	v.composer.ForgetPast()
	v.transcript.reset(a.After.Seq, v.canvas.Width, v.canvas.Height)
	v.usage.reset()
}

// caughtUp ends a catch-up and says what was missed.
func (v *View) caughtUp() {
	v.replica.caughtUp = true
	if summary := v.replica.away.CaughtUp(v.Now(), v.replica.state.Seq); summary != "" {
		v.transcript.view.AddMark(summary)
	}
}

// reconnect tries to connect at once.
func (v *View) reconnect() tea.Cmd {
	r, ok := v.Session.(remote.Retrier)
	switch {
	case v.replica.connected():
		v.status.Text = "connected"
		return nil
	case !ok || v.replica.ended:
		v.status.Text = "this session can no longer be reached"
		return nil
	}
	conn := &v.replica.conn
	conn.Retry = time.Time{}
	if conn.State == remote.Offline {
		*conn = remote.Conn{State: remote.Connecting, Connection: conn.Connection, By: conn.By}
	}
	return v.Tasks.Run(func(context.Context) tea.Msg {
		r.Retry()
		return nil
	})
}

// search searches the session for a text.
func (v *View) search(text string) tea.Cmd {
	cmd, ok := v.transcript.beginSearch(text)
	if ok {
		v.setFocus(onTranscript)
	}
	return cmd
}

// searchGoal shows the session at the hit that is its goal, once the catch-up is over.
func (v *View) searchGoal() tea.Cmd {
	goal := v.transcript.goal
	if goal == nil || !v.replica.caughtUp {
		return nil
	}
	v.transcript.goal = nil
	v.canvas.Dirty = true
	cmd := v.search(goal.text)
	v.transcript.search.target = &goal.hit
	return cmd
}

// Goal shows the session at a hit of a search, once it is caught up.
func (v *View) Goal(hit protocol.Hit, text string) tea.Cmd {
	v.transcript.goal = &hitGoal{hit, text}
	return v.searchGoal()
}
