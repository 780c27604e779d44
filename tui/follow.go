package tui

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
)

// take folds what happened. Until the catch-up is over it draws
// only how far that is.
func (m *model) take(b batch) tea.Cmd {
	live := m.caughtUp
	far := m.catchup.percent(m.state.Seq)
	for _, u := range b {
		switch {
		case u.Event != nil:
			m.event(u.Event)
		case u.Attached != nil:
			m.attached(u.Attached)
		case u.Link != nil:
			m.linked(*u.Link)
		}
	}
	m.dirty = m.dirty || m.caughtUp || m.catchup.percent(m.state.Seq) != far
	m.outbox.settle(m.state.Seq)
	m.listPlan()
	if m.approvals.follow(m.state.Approvals, m.now(), live) {
		m.quiet = m.now().Add(grace)
	}
	if m.focus == onApproval && m.approvals.request == "" || m.focus == onQueue && len(m.state.Queue) == 0 || m.focus == onPlan && m.plan.of(m.state) == nil {
		m.setFocus(onComposer)
	}
	if e := m.composer.editing; e != "" && m.state.QueueIndex(e) < 0 {
		m.composer.endEdit()
		m.word = "the message you edited is not queued any more"
	}
	if m.interrupt.over(m.state) {
		m.interrupt = interrupt{}
	}
	return tea.Batch(m.arm(), m.call(), m.holdAgain(), m.sought())
}

// listPlan lets the transcript list the plan's tasks unless the panel does, which a
// preview has not.
func (m *model) listPlan() { m.story.listed(!m.hidden && m.plan.of(m.state) != nil) }

// call calls the person back for what is new; on a desk, the desk does.
func (m *model) call() tea.Cmd {
	if !m.caughtUp || m.desk {
		return nil
	}
	return m.attention.follow(m.state)
}

func (m *model) event(e *protocol.Event) {
	switch e.Type {
	case protocol.ClientAttached, protocol.ClientLag:
		c := decode[protocol.Client](e.Data)
		m.clients[c.Client] = *c
		return
	case protocol.ClientDetached:
		c := decode[protocol.Client](e.Data)
		m.editors.gone(c.By, m.state, m.now())
		delete(m.clients, c.Client)
		return
	case protocol.CaughtUp:
		m.arrived()
		return
	}
	if !e.Durable() {
		return
	}
	m.outbox.follow(e)
	m.absence.saw(e)
	m.removed(e)
	if err := m.state.Apply(e); err != nil {
		m.word = err.Error()
		return
	}
	m.plan.follow(e)
	m.meter.Apply(e, m.now(), m.caughtUp)
	if err := m.story.add(e); err != nil {
		m.word = err.Error()
	}
	switch e.Type {
	case protocol.MessageUser:
		m.composer.recall.heard(e)
	case protocol.ApprovalResolved:
		m.resolved(e)
	}
}

// removed tells that somebody else took the chosen message away.
func (m *model) removed(e *protocol.Event) {
	if e.Type != protocol.QueueRemoved || m.focus != onQueue || e.By == nil || *e.By == m.link.By {
		return
	}
	d := decode[protocol.QueueRemovedData](e.Data)
	if d.MessageID == m.queue.chosen && d.Reason != protocol.RemovedStarted {
		m.word = nameOf(e.By) + " removed the message that was chosen"
	}
}

// resolved tells who was first, when that was somebody else.
func (m *model) resolved(e *protocol.Event) {
	d := decode[protocol.ApprovalResolvedData](e.Data)
	if f := m.approvals.forms[d.Request]; f == nil || e.By != nil && *e.By == m.link.By && f.sending != "" {
		return
	}
	m.word = outcome(d, e.By)
}
