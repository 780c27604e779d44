package tui

import (
	tea "charm.land/bubbletea/v2"

	"agentctl/tui/keymap"

	"agentctl/protocol"
)

// planKey handles a key while the plan has the focus.
func (m *model) planKey(key string) tea.Cmd {
	of := m.plan.of(m.state)
	does := m.look.keys.InList(keymap.Plan, key)
	if does == keymap.Back || of == nil {
		m.setFocus(onComposer)
		return nil
	}
	at := m.plan.at(of)
	switch does {
	case keymap.Up:
		m.plan.choose(of, at-1)
	case keymap.Down:
		m.plan.choose(of, at+1)
	case keymap.TaskCancel:
		return m.steer(of, at, protocol.DoTaskCancel, "cancelling")
	case keymap.TaskRestart:
		return m.steer(of, at, protocol.DoTaskRestart, "restarting")
	}
	return nil
}

// steer cancels or restarts a task. Until that is answered nothing else is asked
// of the task.
func (m *model) steer(of *protocol.Plan, at int, verb protocol.Verb, what string) tea.Cmd {
	m.plan.choose(of, at) // it stays chosen, whatever becomes of it
	task := of.Tasks[at].ID
	if m.plan.asking[task] != "" {
		return nil
	}
	m.plan.asking[task] = what
	return m.do(verb, protocol.TaskIDData{Task: task}, nil, func(err error) tea.Cmd {
		delete(m.plan.asking, task)
		return m.tell(err)
	})
}
