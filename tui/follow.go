package tui

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/protocol"
)

// take folds what happened. Until the catch-up is over it does not draw.
func (m *model) take(b batch) tea.Cmd {
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
	m.dirty = m.dirty || m.caughtUp
	m.outbox.settle(m.state.Seq)
	if m.approvals.follow(m.state.Approvals) {
		m.quiet = m.now().Add(grace)
	}
	if m.focus == onApproval && m.approvals.request == "" || m.focus == onQueue && len(m.state.Queue) == 0 || m.focus == onPlan && m.plan.of(m.state) == nil {
		m.setFocus(onComposer)
	}
	if e := m.composer.editing; e != "" && m.state.Queued(e) < 0 {
		m.composer.endEdit()
		m.word = "the message you edited is not queued any more"
	}
	if m.interrupt.over(m.state) {
		m.interrupt = interrupt{}
	}
	return tea.Batch(m.arm(), m.call())
}

// call calls the person back for what is new; on a desk, the desk does.
func (m *model) call() tea.Cmd {
	if !m.caughtUp || m.desk {
		return nil
	}
	return m.attention.follow(m.state)
}

func (m *model) linked(l Link) {
	if l.State == Connected && l.Connection == "" {
		l.Connection, l.By = m.link.Connection, m.link.By
	}
	m.link = l
	m.dirty = true
}

func (m *model) attached(a *protocol.SubscribeResult) {
	m.caughtUp = false
	clear(m.clients)
	for _, c := range a.Clients {
		m.clients[c.Client] = c
	}
	if word := reattached(a); word != "" {
		m.word = word
	}
	if a.Mode == protocol.ModeResume || a.Snapshot == nil {
		return
	}
	m.epoch, m.state = a.Snapshot.Epoch, a.Snapshot.State
	if m.state.Session == "" {
		m.state.Session = a.Session
	}
	m.story.reset(a.After.Seq, m.width, m.height)
}

func (m *model) event(e *protocol.Event) {
	switch e.Type {
	case protocol.ClientAttached, protocol.ClientLag:
		c := decode[protocol.Client](e.Data)
		m.clients[c.Client] = *c
		return
	case protocol.ClientDetached:
		delete(m.clients, decode[protocol.Client](e.Data).Client)
		return
	case protocol.CaughtUp:
		m.caughtUp = true
		return
	}
	if !e.Durable() {
		return
	}
	m.outbox.follow(e)
	if err := m.state.Apply(e); err != nil {
		m.word = err.Error()
		return
	}
	if err := m.story.add(e); err != nil {
		m.word = err.Error()
	}
	if e.Type == protocol.ApprovalResolved {
		m.resolved(e)
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
